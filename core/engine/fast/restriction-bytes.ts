// What watchdogs restrict of an order, as bytes of its recorded view.
import type { Exact } from "../../money/exact.ts";
import type { RestrictedBy, RestrictionView } from "../../state/view.ts";
import type { ByteReader, ByteWriter } from "./byte-columns.ts";

/** As they stand in the record. */
const restrictors = ["throttle", "cooldown", "shadow", "noShortOptions", "gross"] as const;

export function writeRestrictions(writer: ByteWriter, restrictions: RestrictionView): void {
  const found = restrictors.map((kind) => restrictions[kind]);
  writer.byte(found.reduce((set, by, index) => (by === undefined ? set : set | (2 << index)), +restrictions.isUnknown));
  for (const by of found) {
    if (by === undefined) continue;
    writer.text(by.restrictionId);
    writer.text(by.watchdog);
    writer.text(by.episodeId);
    writer.integer(by.allowed);
  }
}

export function readRestrictions(reader: ByteReader): RestrictionView {
  const set = reader.byte();
  const read = (index: number): RestrictedBy | undefined => {
    if ((set & (2 << index)) === 0) return undefined;
    const by = { restrictionId: reader.text() ?? "", watchdog: reader.text() ?? "", episodeId: reader.text() ?? "" };
    const allowed = reader.integer();
    return allowed === undefined ? by : { ...by, allowed: allowed as Exact };
  };
  const [throttle, cooldown, shadow, noShortOptions, gross] = restrictors.map((_kind, index) => read(index));
  return { isUnknown: (set & 1) !== 0, throttle, cooldown, shadow, noShortOptions, gross };
}
