// Protobuf, gRPC and Python as an integrator on Debian has them: fetched into the project's cache, nothing installed, nothing assumed to be there.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { environmentOf, findProgram } from "./debian-package.ts";

const run = promisify(execFile);

export interface DebianGrpc {
  /** Finds protoc, its plugins, their libraries and files, and Python's packages. */
  readonly environment: Readonly<Record<string, string>>;
  readonly python: string;
}

/** Throws with a sentence that says what to install where the packages cannot be had. */
export async function debianGrpc(): Promise<DebianGrpc> {
  const found = await findProgram({
    packageName: "protobuf-compiler",
    together: ["protobuf-compiler-grpc", "libprotobuf-dev", "python3-grpcio", "python3-protobuf"],
    // One on PATH says nothing about the rest.
    names: [],
    binaryPath: "usr/bin/protoc",
    cacheName: "grpc-python",
  });
  const root = join(found.binary, "..", "..", "..");
  const fetched = join(root, "usr", "bin", "python3");
  const python = existsSync(fetched) ? fetched : "/usr/bin/python3";
  const environment = {
    ...environmentOf(found),
    PATH: [join(root, "usr", "bin"), process.env["PATH"] ?? ""].join(delimiter),
    PYTHONPATH: join(root, "usr", "lib", "python3", "dist-packages"),
    // A folder of the repository must not fill with what Python compiled.
    PYTHONDONTWRITEBYTECODE: "1",
  };
  await run(python, ["-c", "import grpc, google.protobuf"], { env: environment });
  return { environment, python };
}

/** The plugins that make Go and Java of the protos; their folder. */
export async function debianPlugins(): Promise<string> {
  const { binary } = await findProgram({
    packageName: "protoc-gen-go",
    together: ["protoc-gen-go-grpc", "protobuf-compiler-grpc-java-plugin"],
    names: [],
    binaryPath: "usr/bin/protoc-gen-go",
    cacheName: "grpc-plugins",
  });
  return join(binary, "..");
}
