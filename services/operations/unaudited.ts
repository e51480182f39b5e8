// Changes that nobody audited, as people see them, and what two people accepted: the gateway writes the signed request, and it is used up here, in one transaction with
// its event. The engines notice the rest by themselves (services/riskengine/unaudited-watch.ts).
import type { UnauditedChanges as Wire } from "../../contracts/src/generated/svc/v1/riskworkers.ts";
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { UnaryHandler } from "../../ports/rpc.ts";
import { startLoop } from "../shared/loop.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";

const listedMax = 100;
const everyMs = 500;
const rowCharactersMax = 1_000;
const reasonCharactersMax = 2_000;

type UnauditedPorts = Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash" | "unauditedChanges">;

export function startUnaudited(ports: UnauditedPorts) {
  const { unauditedChanges: changes, store, clock } = ports;

  async function accept(): Promise<number> {
    if (changes === undefined || !(await changes.hasSigned())) return everyMs;
    await store.transact("unaudited.accept", async (unit) => {
      for (const one of await unit.unauditedChanges.accept()) {
        await unit.events.publish(subjects.unauditedAccepted, {
          change_id: one.changeId,
          table: one.table,
          row: line(one.row, rowCharactersMax),
          found: one.found,
          request_id: one.requestId,
          requested_by: one.requestedBy,
          cosigned_by: one.cosignedBy,
          reason: line(one.reason, reasonCharactersMax),
          at: format(clock.now()),
        });
      }
    });
    return everyMs;
  }

  const loop =
    changes === undefined
      ? undefined
      : startLoop({ ports, what: "accepting unaudited changes", firstAfterMs: everyMs, run: accept });
  const handlers = {
    ListUnauditedChanges: async (): Promise<Wire> => {
      const found = (await changes?.list(listedMax)) ?? [];
      return {
        changes: found.map(({ changeId, table, row, found: how }) => ({
          change_id: changeId,
          table,
          row: line(row, rowCharactersMax),
          found: how,
        })),
      };
    },
  } satisfies Record<string, UnaryHandler>;
  return { handlers, stop: async () => loop?.stop() };
}
