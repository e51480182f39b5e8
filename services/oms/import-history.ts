// Puts the trades of the year before the paper platform began among the others, when treasury has reported it. They sum to zero everywhere, so no
// position changes and nobody else hears of them; the entry of the audit log is the one with the hash of the whole.
import type { SeedImported } from "../../contracts/src/records/fund.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Subscription } from "../../ports/bus.ts";
import { historyName, paperHistory } from "../shared/paper-history.ts";
import type { ServicePorts } from "../shared/service.ts";
import { alarm } from "./transitions.ts";

type ImportPorts = Pick<ServicePorts, "bus" | "clock" | "log" | "store" | "marketHistory" | "sha256">;

/** It is made again here from the same market and the same last day, and counts only when its hash is the one that was reported. */
export function hearHistory(ports: ImportPorts): Promise<Subscription> {
  const options = { name: "oms.history", subjects: [subjects.seedImported.name] };
  return ports.bus.subscribe(options, async ({ payload }) => {
    const reported = payload as SeedImported;
    if (reported.name !== historyName) return;
    const history = await paperHistory(ports, reported.to);
    if (history.hash !== reported.hash) {
      const sentence = `Treasury put the history ${reported.hash} in, and this market's is ${history.hash}: its trades are left out.`;
      ports.log.warn("the history that was reported is another one than this market's", { reported: reported.hash });
      await ports.store.transact("oms.alarm", (unit) =>
        alarm(unit, "STATE_MISMATCH", historyName, sentence, ports.clock.now()),
      );
      return;
    }
    const fills = await ports.store.transact("oms.history", (unit) => unit.oms.importFills(history.fills));
    if (fills > 0) ports.log.info("the paper platform's past trades were put in", { fills });
  });
}
