// The three steps of a check that compute most, in the case that nearly every order is: everything plain and nothing finer than the fund's
// sums, so that digits can be added as they are. Each does just what its longer form does with amounts of any kind, or does nothing and says
// so; whoever calls it then takes the long way. plain-exposure.test.ts compares them with bigints.

import type { Notional } from "../money/exact.ts";
import { digitsAt, digitsMax, type Plain, placeOf, plainOf, unitsBetween } from "../money/plain.ts";
import * as fundStates from "../state/fund-state.ts";
import { headOf, pendingsOf, positionOf, sectorPlace } from "../state/fund-state.ts";
import type { FundBook } from "../state/records.ts";
import type { FundView } from "../state/view.ts";

const { abs, max } = Math;

/** Digits at that place, or NaN for what is not plain or stands at a finer one. Digits that are no longer exact are too many to be taken. */
function digitsIf(value: Notional | number | undefined, place: number): number {
  if (typeof value !== "number") return Number.NaN;
  const own = placeOf(value as Plain);
  return own === place ? digitsAt(value, place) : digitsAt(value, own) * unitsBetween(own, place);
}

/** What a unit is worth in digits of the sums, for quantities in digits of their place; NaN when that is finer than the sums are. */
function valueIn(sumPlace: number, digits: number, place: number): number {
  return place === sumPlace ? digits : digits * unitsBetween(place, sumPlace);
}

/** Sets the fund's sums without the line at that row, and what the line is worth; false when that needs the long way. */
export function leaveOutPlainly(
  view: FundView,
  fund: FundBook,
  row: number,
  sector: number,
  valueDigits: number,
  valuePlace: number,
): boolean {
  const { cells, base } = fund;
  const sumPlace = headOf(fund, fundStates.sumPlace);
  const position = (cells[positionOf(fund, row)] ?? Number.NaN) as Plain;
  const place = placeOf(position);
  const value = valueIn(sumPlace, valueDigits, place + valuePlace);
  const held = digitsAt(position, place);
  const pendings = pendingsOf(fund, row);
  const high = (held + digitsAt(cells[pendings] ?? Number.NaN, place)) * value;
  const low = (held - digitsAt(cells[pendings + 1] ?? Number.NaN, place)) * value;
  const worst = max(abs(high), abs(low));
  const grossOthers = digitsIf(cells[base + fundStates.gross], sumPlace) - worst;
  const sectorOthers = sector === 0 ? -worst : digitsIf(cells[sectorPlace(fund, sector)], sumPlace) - worst;
  const highOthers = digitsIf(cells[base + fundStates.netHigh], sumPlace) - high;
  const lowOthers = digitsIf(cells[base + fundStates.netLow], sumPlace) - low;
  // What is not plain is NaN here and fails the comparison; of the rest none is larger than the two that are read.
  if (!(worst <= digitsMax && max(abs(grossOthers), abs(sectorOthers), abs(highOthers), abs(lowOthers)) <= digitsMax)) {
    return false;
  }
  view.grossOthers = plainOf(grossOthers, sumPlace);
  view.sectorOthers = plainOf(sectorOthers, sumPlace);
  view.netHighOthers = plainOf(highOthers, sumPlace);
  view.netLowOthers = plainOf(lowOthers, sumPlace);
  view.heldHigh = plainOf(high, sumPlace);
  view.heldLow = plainOf(low, sumPlace);
  return true;
}

/** What a fund could reach with an order: its position in the symbol, and gross, net and in the symbol's sector. */
export interface WorstCase {
  readonly position: Notional;
  readonly gross: Notional;
  readonly net: Notional;
  readonly inSector: Notional;
}

/** With an order that adds so much to one end of what is held; undefined when that needs the long way. */
export function worstCasePlainly(view: FundView, own: Notional): WorstCase | undefined {
  if (typeof view.grossOthers !== "number") return undefined;
  const place = placeOf(view.grossOthers);
  const added = digitsIf(own, place);
  const buys = view.terms.direction === 1;
  const high = digitsIf(view.heldHigh, place) + (buys ? added : 0);
  const low = digitsIf(view.heldLow, place) - (buys ? 0 : added);
  const position = max(abs(high), abs(low));
  const all = digitsIf(view.grossOthers, place) + position;
  const inSector = digitsIf(view.sectorOthers, place) + position;
  const net = max(abs(digitsIf(view.netHighOthers, place) + high), abs(digitsIf(view.netLowOthers, place) + low));
  if (!(max(position, abs(all), abs(inSector), net) <= digitsMax)) return undefined;
  return {
    position: plainOf(position, place),
    gross: plainOf(all, place),
    net: plainOf(net, place),
    inSector: plainOf(inSector, place),
  };
}

/**
 * Moves the line at that row by what is bought and sold more, with the fund's sums; false when that needs the long way, and then nothing was
 * moved. A line that would be empty needs it.
 */
export function movePlainly(
  fund: FundBook,
  row: number,
  sector: number,
  direction: 1 | -1,
  change: Plain,
  valueDigits: number,
  valuePlace: number,
): boolean {
  const { cells, base } = fund;
  const sumPlace = headOf(fund, fundStates.sumPlace);
  const position = (cells[positionOf(fund, row)] ?? Number.NaN) as Plain;
  const place = placeOf(position);
  const moved = digitsIf(change, place);
  const value = valueIn(sumPlace, valueDigits, place + valuePlace);
  const held = digitsAt(position, place);
  const pendings = pendingsOf(fund, row);
  const buys = digitsAt(cells[pendings] ?? Number.NaN, place);
  const sells = digitsAt(cells[pendings + 1] ?? Number.NaN, place);
  const buysAfter = direction === 1 ? buys + moved : buys;
  const sellsAfter = direction === 1 ? sells : sells + moved;
  const before = max(abs(held + buys), abs(held - sells));
  const worst = (max(abs(held + buysAfter), abs(held - sellsAfter)) - before) * value;
  const ends = moved * value;
  const all = digitsIf(cells[base + fundStates.gross], sumPlace) + worst;
  const sectorAt = sectorPlace(fund, sector);
  const inSector = digitsIf(cells[sectorAt], sumPlace) + worst;
  const netAt = base + (direction === 1 ? fundStates.netHigh : fundStates.netLow);
  const net = digitsIf(cells[netAt], sumPlace) + (direction === 1 ? ends : -ends);
  const isEmpty = held === 0 && buysAfter === 0 && sellsAfter === 0;
  const largest = max(abs(all), abs(inSector), abs(net), abs(worst), abs(ends), abs(buysAfter), abs(sellsAfter));
  if (isEmpty || !(largest <= digitsMax)) return false;
  cells[pendings] = plainOf(buysAfter, place);
  cells[pendings + 1] = plainOf(sellsAfter, place);
  fund.pendingCount += (buysAfter !== 0 || sellsAfter !== 0 ? 1 : 0) - (buys !== 0 || sells !== 0 ? 1 : 0);
  cells[base + fundStates.gross] = plainOf(all, sumPlace);
  cells[sectorAt] = plainOf(inSector, sumPlace);
  cells[netAt] = plainOf(net, sumPlace);
  return true;
}
