// Kill -9 at random moments while events are being written: one round of it. crash-rounds.long.test.ts has the full count; what one death does to a
// subscription is in the conformance suite of the bus.
import { afterAll, beforeAll, expect, test } from "vitest";
import { allOr } from "../full-count.ts";
import { type Bundle, bundleProgram } from "./bundle.ts";
import type { TransportName } from "./fixture.ts";
import { reportRounds, seedOfRun } from "./rounds.ts";

const replay = "npx vitest run testkit/crash-rounds/crash-rounds.ci.test.ts";
const seed = seedOfRun();
let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleProgram();
});
afterAll(() => bundle.remove());

const transports: readonly TransportName[] = ["postgres", "nats"];

test.each<TransportName>(allOr(transports, ["postgres"]))(
  "on %s every acknowledged event is delivered and has exactly one effect, whoever was killed",
  { timeout: 180_000 },
  async (transport: TransportName) => {
    const summary = await reportRounds({ transport, rounds: 1, seed, program: bundle.program }, replay);
    process.stderr.write(`${JSON.stringify(summary)}\n`);
    expect(summary.acknowledged).toBeGreaterThan(50);
  },
);
