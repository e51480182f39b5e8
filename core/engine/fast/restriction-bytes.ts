// What watchdogs restrict of an order, as bytes of its recorded view. Only what limits the order itself is written: the rest are conditions, which forms 9 to
// 12 had here.
import type { Exact } from "../../money/exact.ts";
import type { RestrictedBy, RestrictionView } from "../../state/view.ts";
import type { ByteReader, ByteWriter } from "./byte-columns.ts";

export interface Restricted extends RestrictionView {
  /** The list could not be read for too long. */
  readonly isUnknown: boolean;
  readonly throttle: RestrictedBy | undefined;
  readonly cooldown: RestrictedBy | undefined;
  readonly shadow: RestrictedBy | undefined;
}

/** As they stand in the record. */
const restrictors = ["throttle", "cooldown", "shadow", "noShortOptions", "gross"] as const;

export function writeRestrictions(writer: ByteWriter, { noShortOptions, gross }: RestrictionView): void {
  const found = [undefined, undefined, undefined, noShortOptions, gross];
  writer.byte(found.reduce((set, by, index) => (by === undefined ? set : set | (2 << index)), 0));
  for (const by of found) {
    if (by === undefined) continue;
    writer.text(by.restrictionId);
    writer.text(by.watchdog);
    writer.text(by.episodeId);
    writer.integer(by.allowed);
  }
}

export function readRestrictions(reader: ByteReader): Restricted {
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
