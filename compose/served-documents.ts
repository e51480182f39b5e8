// What the gateway gives out about its interfaces, from the files that `npm run gen` wrote and that tests hold against the routes: making them from the routes took a
// loop from everybody for most of a second. Each is read by whoever makes an answer of it, which is once, and in slices.
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { joinedOpenApi } from "../adapters/http/joined-open-api.ts";
import { inSlices } from "../adapters/system/in-slices.ts";
import { readingJson } from "../contracts/src/parse-json.ts";
import type { GatewayParts } from "../edges/gateway/parts.ts";
import type { Timers } from "../ports/timers.ts";

interface Served {
  readonly timers: Pick<Timers, "soon">;
  /** Where the public listener is reached. */
  publicUrl(): string;
}

/** The repository's folder, of which the bundle that runs is two levels below. */
const root = join(import.meta.dirname, basename(import.meta.dirname) === "compose" ? ".." : "../..");

export function servedDocuments({
  timers,
  publicUrl,
}: Served): Pick<GatewayParts, "openApi" | "publicOpenApi" | "asyncApi" | "inSlices"> {
  const read = async (path: string): Promise<object> => {
    const document = await inSlices(readingJson(await readFile(join(root, path), "utf8")), timers);
    // What comes of it is work of its own.
    await new Promise<void>((resolve) => timers.soon(resolve));
    return document as object;
  };
  return {
    inSlices: (work) => inSlices(work, timers),
    openApi: async () =>
      joinedOpenApi(
        await read("edges/client/openapi.json"),
        await read("edges/client/openapi.public.json"),
        publicUrl(),
      ),
    publicOpenApi: () => read("edges/client/openapi.public.json"),
    asyncApi: () => read("contracts/asyncapi.json"),
  };
}
