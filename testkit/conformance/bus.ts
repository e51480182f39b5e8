// The suite that every bus transport passes: one list of checks, each named after the promise of ports/bus.ts that it
// holds the transport to. The checks are exported one by one as well, so that a transport can plant a fault (a reader that
// goes by highest id) and show that its check notices.
import { describe, it } from "vitest";
import { asideChecks } from "./bus-aside.ts";
import { caughtUpChecks } from "./bus-caught-up.ts";
import { deliveryChecks } from "./bus-delivery.ts";
import { failureChecks } from "./bus-failure.ts";
import type { BusCheck, BusFixture } from "./bus-fixture.ts";
import { orderChecks } from "./bus-order.ts";
import { queueChecks } from "./bus-queues.ts";
import { sharingChecks } from "./bus-sharing.ts";

const groups: readonly (readonly BusCheck[])[] = [
  deliveryChecks,
  orderChecks,
  failureChecks,
  asideChecks,
  sharingChecks,
  queueChecks,
  caughtUpChecks,
];

export const busChecks: readonly BusCheck[] = groups.flat();

/** For `npm test` of a transport that users choose: the default one passes them all there. */
export const firstOfEachGroup: readonly BusCheck[] = groups.flatMap((group) => group.slice(0, 1));

/** Runs one check on a fixture of its own; rejects when the transport does not keep the promise. */
export async function runBusCheck(check: BusCheck, open: () => Promise<BusFixture>): Promise<void> {
  const fixture = await open();
  try {
    await check.run(fixture);
  } finally {
    await fixture.close();
  }
}

interface Suite {
  readonly checks?: readonly BusCheck[];
  /** Several checks wait at once, each on a fixture of its own; in real time most of a check is waiting. */
  readonly together?: boolean;
}

export function busConformance(
  name: string,
  open: () => Promise<BusFixture>,
  { checks = busChecks, together = false }: Suite = {},
): void {
  const options = together ? { concurrent: true, timeout: 120_000 } : {};
  describe(`bus conformance: ${name}`, options, () => {
    for (const check of checks) {
      it(`promise ${check.promise}: ${check.sentence}`, () => runBusCheck(check, open));
    }
  });
}
