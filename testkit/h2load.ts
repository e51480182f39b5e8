// A real h2load, the HTTP/2 load generator in C: it never collects garbage, so what it measures is the server.
import type { DebianProgram } from "./debian-package.ts";

export const h2loadProgram: DebianProgram = {
  packageName: "nghttp2-client",
  names: ["h2load"],
  binaryPath: "usr/bin/h2load",
  cacheName: "nghttp2-client",
};
