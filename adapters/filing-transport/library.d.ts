// What of bzip2-wasm is used; it brings no types of its own.
declare module "bzip2-wasm" {
  // biome-ignore lint/style/noDefaultExport: the library has no other.
  export default class BZip2 {
    wasmModule: unknown;
    init(): Promise<void>;
  }
}
