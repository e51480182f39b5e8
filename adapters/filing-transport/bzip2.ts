// bzip2, by the reference implementation compiled to WebAssembly: one stream, as every reader of the format takes it. Memory is asked for as much as the worst case
// needs, and given back; what would come out larger than allowed is refused before it is there.
import { Fault } from "../../contracts/src/fault.ts";

/** What of the library is used: its own wrapper keeps a view of memory that has grown since. */
interface Library {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(at: number): void;
  setValue(at: number, value: number, type: "i32"): void;
  getValue(at: number, type: "i32"): number;
  _BZ2_bzBuffToBuffCompress(
    to: number,
    toLength: number,
    from: number,
    length: number,
    block: number,
    verbosity: number,
    work: number,
  ): number;
  _BZ2_bzBuffToBuffDecompress(
    to: number,
    toLength: number,
    from: number,
    length: number,
    small: number,
    verbosity: number,
  ): number;
}

export interface Bzip2 {
  compress(content: Uint8Array): Uint8Array;
  /** Rejects what is no whole stream, and what has more bytes than that. */
  decompress(content: Uint8Array, bytesMax: number): Uint8Array;
}

const blockSize = 9;
const full = -8;

export async function openBzip2(): Promise<Bzip2> {
  const { default: Wrapper } = await import("bzip2-wasm");
  const wrapper = new Wrapper();
  await wrapper.init();
  const library = wrapper.wasmModule as Library;
  return {
    compress: (content) =>
      run(library, content, Math.ceil(content.length * 1.01) + 600, (to, toLength, from, length) =>
        library._BZ2_bzBuffToBuffCompress(to, toLength, from, length, blockSize, 0, 0),
      ),
    decompress(content, bytesMax) {
      // Most feedback is small: memory for the most is taken only where less does not do.
      const sizes = [Math.min(bytesMax, content.length * 50 + 1_000_000), bytesMax];
      for (const size of new Set(sizes)) {
        try {
          return run(library, content, size, (to, toLength, from, length) =>
            library._BZ2_bzBuffToBuffDecompress(to, toLength, from, length, 0, 0),
          );
        } catch (thrown) {
          if (!(thrown instanceof TooLarge)) throw thrown;
        }
      }
      throw new Fault("FILING_UNREACHABLE", `it has more than ${bytesMax} bytes`, { retry: "never" });
    },
  };
}

class TooLarge extends Error {}

function run(
  library: Library,
  content: Uint8Array,
  roomBytes: number,
  call: (to: number, toLength: number, from: number, length: number) => number,
): Uint8Array {
  const taken: number[] = [];
  const take = (bytes: number): number => {
    const at = library._malloc(Math.max(bytes, 1));
    if (at === 0) throw new Error("there is no memory for it");
    taken.push(at);
    return at;
  };
  try {
    const [from, to, length] = [take(content.length), take(roomBytes), take(4)];
    library.HEAPU8.set(content, from);
    library.setValue(length, roomBytes, "i32");
    const code = call(to, length, from, content.length);
    if (code === full) throw new TooLarge();
    if (code !== 0) throw new Error(`it is no whole bzip2 stream (${code})`);
    return library.HEAPU8.slice(to, to + library.getValue(length, "i32"));
  } finally {
    for (const at of taken) library._free(at);
  }
}
