// What a bust of a foreign fill is judged by, read in one unit of work, the same for every service that takes busts.
import { parse } from "../../contracts/src/instant.ts";
import type { BookedFill, FillBusted } from "../../contracts/src/records/order.ts";
import type { BustStanding } from "../../core/foreign/judge-bust.ts";
import type { UnitOfWork } from "../../ports/store.ts";

/** The fill as the asking service's own books have it; "ours" when they have it and no foreign program published it. */
export type BookedAs = BookedFill | "ours" | undefined;

export async function bustStanding(
  { foreign, corporateActions }: Pick<UnitOfWork, "foreign" | "corporateActions">,
  source: string,
  bust: FillBusted,
  bookedAs: BookedAs,
  login?: string,
): Promise<BustStanding> {
  const isOurs = bookedAs === "ours" || (bookedAs !== undefined && bookedAs.published_by === undefined);
  const booked = bookedAs === "ours" ? undefined : bookedAs;
  const same = await foreign.bust(source, bust.bust_id);
  const others = (await foreign.bustsOf(source, bust.fill_id)).filter(({ bust_id: id }) => id !== bust.bust_id);
  const isTurned =
    booked !== undefined &&
    (await corporateActions.applied()).some(
      ({ symbol, appliedAt }) =>
        symbol === booked.symbol && appliedAt !== undefined && appliedAt >= parse(booked.filled_at),
    );
  return { source, login, booked, isOurs, same, others, isTurned };
}
