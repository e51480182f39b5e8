// What goes on around the paper market's prices: volume, bursts of it by those who know something, and news. Pure functions of the seed, the
// symbol and the market's time.
//
// A day is cut into half hours. In one of twelve somebody informed trades a symbol: for 3 to 10 minutes volume is many times the usual, the side
// that they take away is thin, and the price moves by a few tenths of a percent, which fades over the next 90 minutes. News comes with it most of
// the time, a little late; other news comes without anything happening.
import { bitsAt, fractionAt, laneOf } from "./seeded-random.ts";

interface Burst {
  /** Seconds since 1970, in the market's time. */
  readonly startS: number;
  readonly lengthS: number;
  readonly direction: 1 | -1;
  /** From 0 to 1. */
  readonly strength: number;
}

interface Headline {
  readonly slot: number;
  readonly atS: number;
  readonly text: string;
}

export const slotS = 1_800;
const burstChance = 1 / 12;
const newsWithBurstChance = 0.7;
const newsAloneChance = 1 / 48;
const fadeS = 5_400;
/** Bursts that may still be felt begun in this slot or one of so many before. */
const feltSlots = Math.ceil((600 + fadeS) / slotS) + 1;

export interface FlowStreams {
  readonly burst: number;
  readonly news: number;
  readonly volume: number;
}

export function flowStreams(seed: number, symbol: string): FlowStreams {
  return {
    burst: laneOf(seed, `${symbol} burst`),
    news: laneOf(seed, `${symbol} news`),
    volume: laneOf(seed, `${symbol} volume`),
  };
}

function burstIn({ burst: lane }: FlowStreams, slot: number): Burst | undefined {
  if (fractionAt(lane, slot) >= burstChance) return undefined;
  const bits = bitsAt(lane ^ 0x5bd1_e995, slot);
  return {
    startS: slot * slotS + (bits & 0x3ff),
    lengthS: 180 + ((bits >>> 10) & 0x1ff) * (420 / 511),
    direction: (bits >>> 19) & 1 ? 1 : -1,
    strength: 0.3 + ((bits >>> 20) & 0xff) * (0.7 / 255),
  };
}

/** How far bursts have the price pushed at that moment: from -1 to 1 for one, and more when they come together. */
export function burstPush(streams: FlowStreams, seconds: number): number {
  const slot = Math.floor(seconds / slotS);
  let push = 0;
  for (let back = 0; back <= feltSlots; back += 1) {
    const burst = burstIn(streams, slot - back);
    if (burst !== undefined) push += burst.direction * burst.strength * felt(burst, seconds);
  }
  return push;
}

function felt({ startS, lengthS }: Burst, seconds: number): number {
  const past = seconds - startS;
  if (past <= 0) return 0;
  if (past < lengthS) return past / lengthS;
  return Math.max(0, 1 - (past - lengthS) / fadeS);
}

/** The burst that is under way at that moment. */
export function burstNow(streams: FlowStreams, seconds: number): Burst | undefined {
  const slot = Math.floor(seconds / slotS);
  for (const each of [slot, slot - 1]) {
    const burst = burstIn(streams, each);
    if (burst !== undefined && seconds >= burst.startS && seconds < burst.startS + burst.lengthS) return burst;
  }
  return undefined;
}

const minuteS = 60;
/** Minutes of usual volume that a burst at full strength adds for every minute that it lasts. */
const burstMinutes = 15;

/** Minutes of usual volume that were traded between two moments; grows with the later one. */
export function volumeBetween(streams: FlowStreams, fromS: number, toS: number): number {
  let minutes = tradedMinutes(streams, toS) - tradedMinutes(streams, fromS);
  const first = Math.floor((fromS - 1_624) / slotS);
  for (let slot = first; slot <= Math.floor(toS / slotS); slot += 1) {
    const burst = burstIn(streams, slot);
    if (burst === undefined) continue;
    const seconds = clamp(toS - burst.startS, burst.lengthS) - clamp(fromS - burst.startS, burst.lengthS);
    minutes += (burst.strength * burstMinutes * seconds) / minuteS;
  }
  return Math.max(0, minutes);
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(0, value), most);
}

/** Minutes since 1970, each of which holds between a fifth and nine fifths of the usual volume. */
function tradedMinutes({ volume: lane }: FlowStreams, seconds: number): number {
  const minute = Math.floor(seconds / minuteS);
  const within = seconds / minuteS - minute;
  const at = (place: number): number => 0.8 * fractionAt(lane, place);
  return minute + within + at(minute) + (at(minute + 1) - at(minute)) * within;
}

/** The news of one half hour, if there is any. */
export function headlineIn(streams: FlowStreams, slot: number): Headline | undefined {
  const burst = burstIn(streams, slot);
  const chance = fractionAt(streams.news, slot);
  const bits = bitsAt(streams.news ^ 0x27d4_eb2f, slot);
  if (burst !== undefined && chance < newsWithBurstChance) {
    const words = burst.direction > 0 ? risingWords : fallingWords;
    return { slot, atS: Math.floor(burst.startS) + (bits & 0x3f), text: words[(bits >>> 8) % words.length] ?? "" };
  }
  if (burst !== undefined || chance >= newsAloneChance) return undefined;
  return { slot, atS: slot * slotS + (bits & 0x3ff), text: plainWords[(bits >>> 10) % plainWords.length] ?? "" };
}

const risingWords = [
  "beats expectations",
  "raises its outlook",
  "sees unusual demand",
  "wins a large contract",
  "is said to be a takeover target",
] as const;
const fallingWords = [
  "misses expectations",
  "lowers its outlook",
  "faces an inquiry",
  "loses a large customer",
  "reports an outage",
] as const;
const plainWords = [
  "speaks at a conference",
  "names a new director",
  "publishes its calendar",
  "opens an office",
] as const;
