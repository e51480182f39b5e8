// Alarms about funds that are valued at old prices or not at all: once when it begins, again when another symbol joins, and again only after it has
// ended in between. Published through the store, so that they are recorded and heard like every event.
import { alarms as registry } from "../../contracts/src/codes/alarms.ts";
import { format, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { Valuation } from "./valuation.ts";

/** A fund without a value is an alarm after this; a price is called old after the same. */
export const priceAgeMsMax = 10_000;
const namesMax = 20;

interface ValueAlarms {
  /** What became of a fund's valuation: the value, or why there is none. */
  saw(fundId: string, value: Valuation | string): Promise<void>;
}

interface Trouble {
  readonly since: Instant;
  /** What was reported of it: symbols, or why there is no value. */
  readonly reported: ReadonlySet<string>;
}

export function createValueAlarms({ store, clock, log }: Pick<ServicePorts, "store" | "clock" | "log">): ValueAlarms {
  /** Funds in trouble; bounded by the funds that there are. */
  const troubles = new Map<string, Trouble>();

  async function tell(fundId: string, sentence: string, symbols: readonly string[]): Promise<void> {
    log.warn("an alarm was raised", { code: "NAV_PRICES_STALE", fund_id: fundId, sentence });
    const facts = { about: fundId, fund_id: fundId, symbols: symbols.slice(0, namesMax).join(", ") };
    const { level } = registry.NAV_PRICES_STALE;
    const alarm = { code: "NAV_PRICES_STALE", level, service: "treasury", sentence: line(sentence, 2_000), facts };
    await store.transact("treasury.alarm", (unit) =>
      unit.events.publish(subjects.alarmRaised, { ...alarm, at: format(clock.now()) }),
    );
  }

  return {
    async saw(fundId, value) {
      const at = clock.now();
      const known = troubles.get(fundId);
      const isWhole = typeof value !== "string";
      if (isWhole && value.old.size === 0) {
        if (troubles.delete(fundId)) log.info("the fund is valued at fresh prices again", { fund_id: fundId });
        return;
      }
      const { since, reported } = known ?? { since: at, reported: new Set<string>() };
      if (!isWhole && known === undefined) log.warn("a fund cannot be valued", { fund_id: fundId, why: value });
      const names = isWhole ? [...value.old.keys()].sort() : [value];
      const isDue = isWhole || millisecondsBetween(since, at) >= priceAgeMsMax;
      if (isDue && names.some((name) => !reported.has(name))) {
        // An alarm that could not be published counts as not reported, and the next value tries again.
        troubles.set(fundId, { since, reported });
        await tell(fundId, isWhole ? oldSentence(fundId, value) : `${fundId} has no value: ${value}.`, names);
        troubles.set(fundId, { since, reported: new Set([...reported, ...names]) });
        return;
      }
      // What is fresh again may be reported again.
      const still = isDue ? new Set([...reported].filter((name) => names.includes(name))) : reported;
      troubles.set(fundId, { since, reported: still });
    },
  };
}

function oldSentence(fundId: string, { old, oldestPriceAgeMs }: Valuation): string {
  const names = [...old].sort(([, one], [, other]) => other - one).slice(0, namesMax);
  const shown = names.map(([symbol, ageMs]) => `${symbol} (${Math.round(ageMs / 1_000)} s)`).join(", ");
  const more = old.size > namesMax ? ` and ${old.size - namesMax} more` : "";
  return `${fundId} is valued at old prices, the oldest ${Math.round(oldestPriceAgeMs / 1_000)} s old: ${shown}${more}.`;
}
