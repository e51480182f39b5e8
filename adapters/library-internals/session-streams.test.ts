// Node's streams by number: a Map in all but its memory, and in its place in the sessions of the Node that runs this.
import { createServer, type ServerHttp2Session } from "node:http2";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { prng } from "../../testkit/virtual/prng.ts";
import { keepStreamsByNumber, StreamsByNumber } from "./session-streams.ts";

describe("streams by number", () => {
  it("is a Map to whoever uses it, whatever comes and goes", () => {
    const { word } = prng(20_261_116);
    const roll = (): number => word() / 2 ** 32;
    const [ours, theirs] = [new StreamsByNumber<string>(), new Map<number, string>()];
    let next = 1;
    for (let step = 0; step < 5_000; step += 1) {
      const open = [...theirs.keys()];
      if (roll() < 0.55) {
        expect(ours.set(next, `stream ${next}`)).toBe(ours);
        theirs.set(next, `stream ${next}`);
        next += 2;
      } else {
        const id = open[Math.floor(roll() * open.length)] ?? next;
        expect(ours.delete(id)).toBe(theirs.delete(id));
        expect(ours.has(id)).toBe(false);
      }
      if (roll() < 0.01) {
        ours.clear();
        theirs.clear();
      }
      const some = open[Math.floor(roll() * open.length)] ?? 0;
      expect([ours.size, ours.get(some), ours.has(some)]).toEqual([theirs.size, theirs.get(some), theirs.has(some)]);
      if (step % 50 > 0) continue;
      expect([...ours]).toEqual([...theirs]);
      expect([[...ours.keys()], [...ours.values()]]).toEqual([[...theirs.keys()], [...theirs.values()]]);
      const walked: [string, number][] = [];
      ours.forEach((stream, id) => {
        walked.push([stream, id]);
      });
      expect(walked).toEqual([...theirs].map(([id, stream]) => [stream, id]));
    }
  });

  it("may lose entries while it is walked through", () => {
    const ours = new StreamsByNumber<string>();
    for (const id of [1, 3, 5]) ours.set(id, String(id));
    const seen: string[] = [];
    for (const stream of ours.values()) {
      seen.push(stream);
      ours.delete(3);
    }
    expect(seen).toEqual(["1", "5"]);
  });
});

it("takes hold of the sessions of this Node, and leaves alone what it does not know", async () => {
  const server = createServer();
  const begun = new Promise<ServerHttp2Session>((resolve) => server.once("session", resolve));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const socket = connect(address.port, "127.0.0.1");
  const session = await begun;
  expect(keepStreamsByNumber(session)).toBe(true);
  expect(keepStreamsByNumber({} as never)).toBe(false);
  session.destroy();
  socket.destroy();
  server.close();
});
