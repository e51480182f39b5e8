// A unit of work whose end is known: when the answer to its commit was lost, the store is asked until it tells which of the two it was. One that
// collided with others as often as the store tries is begun again: a halt must not be refused because others halt at the same moment.
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ServicePorts } from "./service.ts";
import { pollUntil } from "./waiting.ts";

const askEveryMs = 50;
const asksMax = 100;
/** Times that the store's own tries are begun again; each of them lasts tens of milliseconds. */
const beginningsMax = 20;

/** Resolves when it is durable; rejects with STORE_CONFLICT after many collisions in a row, and with STORE_COMMIT_UNKNOWN only when the store could not tell for seconds. */
export async function transactToKnownEnd<Value>(
  ports: Pick<ServicePorts, "store" | "timers" | "log">,
  name: string,
  work: (unit: UnitOfWork) => Promise<Value>,
): Promise<Value> {
  for (let begun = 1; ; begun += 1) {
    try {
      return await transactOnce(ports, name, work);
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== "STORE_CONFLICT" || begun >= beginningsMax) throw thrown;
      ports.log.debug("a unit of work that collided is begun again", { name, begun });
    }
  }
}

async function transactOnce<Value>(
  { store, timers, log }: Pick<ServicePorts, "store" | "timers" | "log">,
  name: string,
  work: (unit: UnitOfWork) => Promise<Value>,
): Promise<Value> {
  let made: { readonly value: Value } | undefined;
  try {
    return await store.transact(name, async (unit) => {
      const value = await work(unit);
      // The work may be run again after a conflict; the run that was committed is the last one.
      made = { value };
      return value;
    });
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== "STORE_COMMIT_UNKNOWN") throw thrown;
    const transaction = thrown.facts["transaction"];
    if (made === undefined || typeof transaction !== "string") throw thrown;
    const outcome = await pollUntil({ timers, everyMs: askEveryMs, timesMax: asksMax }, async () => {
      try {
        return await store.outcomeOf(transaction);
      } catch (failed) {
        if (failed instanceof Defect) throw failed;
        log.debug("the outcome of a commit cannot be asked", { name, reason: messageOf(failed) });
        return undefined;
      }
    });
    if (outcome === "committed") return made.value;
    if (outcome === undefined) throw thrown;
    throw new Fault("STORE_UNAVAILABLE", `${name} was not committed.`, { retry: "later", cause: thrown });
  }
}
