// Ways to a regulator under the suite of their port; sftp-transport.ci.test.ts has the server's.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FilingTransportFixture, filingTransportConformance } from "../../testkit/conformance/filing-transport.ts";
import { filingFolders } from "../../testkit/filing-folders.ts";
import { memoryFilingTransport } from "../../testkit/memory/filing-transport.ts";
import { folderTransport } from "./folder-transport.ts";

filingTransportConformance("a folder", async (): Promise<FilingTransportFixture> => {
  const of = await filingFolders();
  return {
    ...of,
    open: async () => folderTransport({ folder: of.root }),
    async breakDown() {
      await rm(join(of.root, "transit"), { recursive: true });
      await writeFile(join(of.root, "transit"), "a file stands where the folder was");
    },
    close: of.remove,
  };
});

filingTransportConformance("memory", async (): Promise<FilingTransportFixture> => {
  const memory = memoryFilingTransport();
  return {
    open: async () => memory,
    complete: async () => memory.complete,
    putComplete: async (name, content) => void memory.complete.set(name, content),
    putTransit: async (name, content) => void memory.transit.set(name, content),
    putFeedback: async (name, content) => void memory.saying.set(name, content),
    breakDown: async () => {
      memory.cutAt = "half-written";
    },
    close: async () => undefined,
  };
});
