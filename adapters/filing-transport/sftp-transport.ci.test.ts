// An SFTP server under the suite of the port; then what is the server's own: whose key it has, where it is cut, and that it is silent. And what compresses.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Fault } from "../../contracts/src/fault.ts";
import { type FilingTransportFixture, filingTransportConformance } from "../../testkit/conformance/filing-transport.ts";
import { filingFolders } from "../../testkit/filing-folders.ts";
import { type SftpServer, startSftpServer } from "../../testkit/sftp-server.ts";
import { openBzip2 } from "./bzip2.ts";
import { type SftpPlace, sftpTransport } from "./sftp-transport.ts";

const waitMsMax = 20_000;

function placeOf(server: SftpServer, differs: Partial<SftpPlace> = {}): SftpPlace {
  const { port, hostKeySha256 } = server;
  const dirs = { transitDir: "transit", completeDir: "complete/", feedbackDir: "feedback" };
  return { host: "127.0.0.1", port, user: "reporter", hostKeySha256, ...dirs, ...differs };
}

async function served() {
  const of = await filingFolders();
  const server = await startSftpServer({ folder: of.root, user: "reporter" });
  const connect = (differs: Partial<SftpPlace> = {}, privateKey = server.privateKey, wait = waitMsMax) =>
    sftpTransport({ place: placeOf(server, differs), privateKey, waitMsMax: wait });
  const close = async (): Promise<void> => {
    await server.close();
    await of.remove();
  };
  return { ...of, server, connect, close };
}

filingTransportConformance("SFTP", async (): Promise<FilingTransportFixture> => {
  const of = await served();
  return {
    ...of,
    open: () => of.connect(),
    async breakDown() {
      of.server.isFull = true;
    },
  };
});

describe("an SFTP server", () => {
  let open: Awaited<ReturnType<typeof served>> | undefined;
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });
  const begin = async () => {
    open = await served();
    return open;
  };
  const name = "1234_ABCD_20261113_alpha_OrderEvents_000001.json.bz2";
  const content = Buffer.from("the bytes of a file");

  it("with another key is not spoken to, and nothing of ours is in what is said of a key that is wrong", async () => {
    const { connect, root } = await begin();
    const other = `SHA256:${"A".repeat(43)}`;
    await expect(connect({ hostKeySha256: other })).rejects.toThrow("another than sftp.host_key_sha256 says");
    const secret = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n";
    const refused = await connect({}, secret).catch((thrown: unknown) => String(thrown));
    expect(refused).toContain("private key");
    expect(refused).not.toContain("c2VjcmV0");
    await expect(connect({ user: "somebody" })).rejects.toMatchObject({ code: "FILING_UNREACHABLE" });
    expect(await readdir(join(root, "transit"))).toEqual([]);
  });

  it.each(
    (["LSTAT", "OPEN", "WRITE", "CLOSE", "RENAME"] as const).flatMap((request) =>
      (["before", "after"] as const).map((when) => ({ request, when })),
    ),
  )(
    "that is cut $when $request has nothing half in its place, and the file whole after the next try",
    async (cutAt) => {
      const { connect, server, complete } = await begin();
      server.cutAt = cutAt;
      const first = await connect();
      // What is cut right after its answer may have been heard: then it is done.
      const outcome = await first.put({ name, content }).catch((thrown: Fault) => thrown.code);
      expect(cutAt.when === "after" ? ["FILING_UNREACHABLE", "SENT"] : ["FILING_UNREACHABLE"]).toContain(outcome);
      await first.close();
      for (const held of (await complete()).values()) expect(Buffer.from(held)).toEqual(content);
      const again = await connect();
      expect(["SENT", "THERE"]).toContain(await again.put({ name, content }));
      await again.close();
      expect([...(await complete()).keys()]).toEqual([name]);
    },
  );

  it("that answers nothing any more is left after the wait", async () => {
    const { connect, server } = await begin();
    const transport = await connect({}, server.privateKey, 5_000);
    server.isSilent = true;
    await expect(transport.put({ name, content })).rejects.toThrow(/no answer|cut/);
    await transport.close();
  });
});

it("bzip2 gives back what it was given, of any size, and refuses what is cut off or too large", async () => {
  const bzip2 = await openBzip2();
  for (const length of [0, 1, 100, 3_000_000]) {
    const content = Uint8Array.from({ length }, (_, index) => (index * index) % 251);
    const compressed = bzip2.compress(content);
    expect(Buffer.from(bzip2.decompress(compressed, length + 1)).equals(content)).toBe(true);
    if (length > 1) {
      expect(() => bzip2.decompress(compressed, length - 1)).toThrow("more than");
      expect(() => bzip2.decompress(compressed.subarray(0, compressed.length - 4), length)).toThrow();
    }
  }
});
