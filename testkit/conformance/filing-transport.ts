// The suite that every way to a regulator passes: ports/filing-transport.ts.
import { afterEach, describe, expect, it } from "vitest";
import type { FilingTransport } from "../../ports/filing-transport.ts";

export interface FilingTransportFixture {
  /** A connection of its own. */
  open(): Promise<FilingTransport>;
  /** What lies in the folders, by name. */
  complete(): Promise<ReadonlyMap<string, Uint8Array>>;
  putComplete(name: string, content: Uint8Array): Promise<void>;
  putTransit(name: string, content: Uint8Array): Promise<void>;
  putFeedback(name: string, content: Uint8Array): Promise<void>;
  /** From now on nothing can be brought there. */
  breakDown(): Promise<void>;
  close(): Promise<void>;
}

const name = "1234_ABCD_20261113_alpha_OrderEvents_000001.json.bz2";
/** More than one slice of a connection. */
const content = Uint8Array.from({ length: 40_001 }, (_, index) => (index * 31) % 256);

/** Compared as texts: lists of numbers take a second. */
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const shown = (files: ReadonlyMap<string, Uint8Array>) =>
  [...files].map(([each, bytes]) => [each, textOf(bytes)] as const);

export function filingTransportConformance(kind: string, open: () => Promise<FilingTransportFixture>): void {
  describe(`the way to a regulator, ${kind}`, () => {
    let fixture: FilingTransportFixture | undefined;
    const transports: FilingTransport[] = [];
    const begin = async () => {
      fixture = await open();
      return fixture;
    };
    const connect = async (): Promise<FilingTransport> => {
      const transport = await (fixture ?? (await begin())).open();
      transports.push(transport);
      return transport;
    };
    afterEach(async () => {
      for (const transport of transports.splice(0)) await transport.close();
      await fixture?.close();
      fixture = undefined;
    });

    it("1 and 2: a file arrives as it is, and the same again is there already", async () => {
      const of = await begin();
      const transport = await connect();
      expect(await transport.put({ name, content })).toBe("SENT");
      expect(shown(await of.complete())).toEqual([[name, textOf(content)]]);
      expect(await transport.put({ name, content })).toBe("THERE");
      expect(await (await connect()).put({ name, content })).toBe("THERE");
    });

    it("2: other bytes under its name stay, and are told", async () => {
      const of = await begin();
      const other = content.slice().reverse();
      await of.putComplete(name, other);
      await expect((await connect()).put({ name, content })).rejects.toMatchObject({ code: "FILING_NAME_TAKEN" });
      expect(shown(await of.complete())).toEqual([[name, textOf(other)]]);
    });

    it("3: what a torn attempt left beside is replaced, also where it is longer", async () => {
      const of = await begin();
      await of.putTransit(name, new Uint8Array(200_000));
      expect(await (await connect()).put({ name, content })).toBe("SENT");
      expect(shown(await of.complete())).toEqual([[name, textOf(content)]]);
    });

    it("4: what does not work is said, and nothing half lies there", async () => {
      const of = await begin();
      const transport = await connect();
      await of.breakDown();
      await expect(transport.put({ name, content })).rejects.toMatchObject({ code: "FILING_UNREACHABLE" });
      expect([...(await of.complete()).keys()]).toEqual([]);
    });

    it("5: feedback is listed and read, as much of it as is allowed; what leads elsewhere is not listed", async () => {
      const of = await begin();
      const transport = await connect();
      await of.putFeedback("a.ack.json", content);
      await of.putFeedback("..b.ack.json", content);
      await of.putFeedback("-c d.ack.json", content);
      expect(await transport.feedback()).toEqual([{ name: "a.ack.json", bytes: content.length }]);
      expect(textOf(await transport.read("a.ack.json", content.length))).toBe(textOf(content));
      for (const [wrong, bytesMax] of [
        ["a.ack.json", content.length - 1],
        ["none.ack.json", 10],
        ["../complete/x", 10],
      ] as const) {
        await expect(transport.read(wrong, bytesMax)).rejects.toMatchObject({ code: "FILING_UNREACHABLE" });
      }
    });
  });
}
