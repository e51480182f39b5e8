// Reference data of symbols that are called otherwise from now on: the instrument itself, the options on it with their strikes, borrow and the restricted
// list, each as a new version in the transaction that changes what is held.
import { format } from "../../../contracts/src/instant.ts";
import type { Instrument } from "../../../contracts/src/records/market.ts";
import type { Borrow, ReferenceKind, Restriction } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { canonicalText } from "../../../contracts/src/text/canonical-text.ts";
import { adjustedOption } from "../../../core/options/option-adjustment.ts";
import { hexOf } from "../slicing.ts";
import type { Applying } from "./applying.ts";

const kinds = ["instruments", "borrow", "restricted"] as const satisfies readonly ReferenceKind[];

export async function renameReference({ unit, ports, action, at }: Applying): Promise<void> {
  const legs = new Map(action.legs.map((leg) => [leg.symbol, leg]));
  const nameOf = (symbol: string): string => legs.get(symbol)?.new_symbol ?? symbol;
  for (const kind of kinds) {
    const locked = await unit.reference.lock(kind);
    if (locked === undefined) continue;
    const records = locked.content as readonly (Instrument | Borrow | Restriction)[];
    // What stands under the new name already is newer than what is said of the old one.
    const taken = new Set(records.map(({ symbol }) => symbol).filter((symbol) => !legs.has(symbol)));
    const kept = records.filter(({ symbol }) => nameOf(symbol) === symbol || !taken.has(nameOf(symbol)));
    const content = kept.map((one) => {
      const leg = legs.get(one.symbol);
      if (leg === undefined) return one;
      const underlying = "underlying" in one ? one.underlying : undefined;
      if (underlying === undefined) return { ...one, symbol: leg.new_symbol };
      return adjustedOption(one as Instrument, leg, nameOf(underlying));
    });
    if (canonicalText(content) === canonicalText(records)) continue;
    const [version, hash] = [locked.version + 1, hexOf(ports.sha256(canonicalText(content)))];
    const { bookedBy: setBy, actionId } = action;
    const reason = `corporate action ${actionId}`;
    await unit.reference.put({ kind, version, content, setBy, setAt: at, reason, hash });
    const reported = { kind, version, set_by: setBy, set_at: format(at), reason, hash };
    await unit.events.publish(subjects.referenceChanged, reported);
  }
}
