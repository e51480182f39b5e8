// The view as bytes: everything that a decision read and that is neither in the order nor in the envelope, so that the decision can be
// made again from its record alone. The first byte is the version of this form; a form that was ever stored can be read for ever.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import * as instant from "../../../contracts/src/instant.ts";
import type { Severity } from "../../../contracts/src/records/values.ts";
import { gateRules } from "../../gates/rules.ts";
import { type Amount, toDecimal } from "../../money/amount.ts";
import { type Exact, toExact } from "../../money/exact.ts";
import { emptyView, noVerdict } from "../../state/empty-view.ts";
import type { FundView, InstrumentFacts, OptionView, Verdict } from "../../state/view.ts";
import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from "./byte-columns.ts";
import { readConditions, writeConditions } from "./condition-bytes.ts";
import { type EarlierConditions, earlierConditions } from "./earlier-conditions.ts";
import { readRestrictions, writeRestrictions } from "./restriction-bytes.ts";

/**
 * Forms 9 to 12 have a member for each condition (earlier-conditions.ts): form 10 adds a second byte of them, and the disk; form 11 who said the price;
 * form 12 changes that nobody audited. Form 13 has one list of conditions, and by which rules the gates decided. No release wrote what came before
 * form 9, and nobody reads it any more.
 */
const formVersion = 13;
const oldestForm = 9;
/** By those forms 9 to 12 were decided. */
const firstRules = 1;
const refusals: readonly FundView["amendRefusal"][] = [undefined, "another", "ended", "unapproved", "not yours"];
const rateWords: readonly FundView["unpricedRate"][] = [undefined, "missing", "old", "delta"];
const keyWords: readonly FundView["keySeen"][] = ["no", "same order", "another order"];
const severities: readonly Severity[] = ["STRATEGY_HALT", "FUND_HALT", "FIRM_HALT"];
const verdictKinds: readonly Verdict["kind"][] = ["none", "pass", "veto", "timeout", "unreadable"];

/** What the gates read, and when; a decision with a risk officer's verdict looked twice. */
export interface RecordedView {
  readonly at: instant.Instant;
  readonly view: FundView;
}

export interface ViewPacker {
  /** The view as bytes of its own. */
  pack(view: FundView, at: instant.Instant): Uint8Array;
}

export function createViewPacker(): ViewPacker {
  const writer = createByteWriter();
  /** Instruments as bytes: they change with the reference data only, and every order has one. */
  const instruments = new WeakMap<InstrumentFacts, Uint8Array>();
  const instrumentBytes = (instrument: InstrumentFacts): Uint8Array => {
    const known = instruments.get(instrument);
    if (known !== undefined) return known;
    const own = createByteWriter();
    writeInstrument(own, instrument);
    const bytes = own.take().slice();
    instruments.set(instrument, bytes);
    return bytes;
  };
  return {
    pack(view, at) {
      writer.reset();
      writer.byte(formVersion);
      writer.byte(gateRules & 0xff);
      writer.byte(gateRules >> 8);
      writer.number(at);
      writeWho(writer, view, instrumentBytes);
      writeSymbol(writer, view);
      writeFund(writer, view);
      writeRest(writer, view);
      writeBlocks(writer, view);
      writeConditions(writer, view.conditions);
      writer.text(view.priceSource);
      return writer.take();
    },
  };
}

/** Two looks as one record: their bytes behind each other, the first with its length. */
export function joinViews(first: Uint8Array, second: Uint8Array): Uint8Array {
  const writer = createByteWriter();
  writer.byte(0);
  writer.integer(BigInt(first.length));
  writer.bytes(first);
  writer.bytes(second);
  return writer.take();
}

function looksOf(content: Uint8Array): readonly [Uint8Array] | readonly [Uint8Array, Uint8Array] {
  if (content[0] !== 0) return [content];
  const reader = createByteReader(content);
  reader.byte();
  const length = Number(reader.integer() ?? 0n);
  const start = 2 + (length === 0 ? 0 : 8);
  return [content.subarray(start, start + length), content.subarray(start + length)];
}

/** By which rules the gates decided; 0 for a form that is not read any more. Of a decision that looked twice, by those of its second look. */
export function rulesOf(content: Uint8Array): number {
  const [first, second = first] = looksOf(content);
  const reader = createByteReader(second);
  const version = formOf(reader);
  if (version < oldestForm) return 0;
  return version < 13 ? firstRules : reader.byte() | (reader.byte() << 8);
}

function formOf(reader: ByteReader): number {
  const version = reader.byte();
  if (version < 1 || version > formVersion) throw new Defect(`recorded inputs of form ${version} are not known`);
  return version;
}

/** One view, or the two of a decision that waited for the risk officer; of a form that is still read. */
export function unpackViews(content: Uint8Array): readonly [RecordedView] | readonly [RecordedView, RecordedView] {
  const [first, second] = looksOf(content);
  return second === undefined ? [unpack(first)] : [unpack(first), unpack(second)];
}

function unpack(content: Uint8Array): RecordedView {
  const reader = createByteReader(content);
  const version = formOf(reader);
  if (version < oldestForm) throw new Defect(`recorded inputs of form ${version} are not read any more`);
  if (version >= 13) for (let read = 0; read < 2; read += 1) reader.byte();
  const at = instant.fromMicroseconds(reader.number());
  const view = emptyView();
  const earlier: EarlierConditions = {};
  readWho(reader, view, earlier);
  readSymbol(reader, view);
  readFund(reader, view);
  readRest(reader, view, version, earlier);
  readBlocks(reader, view, version, earlier);
  view.conditions = version >= 13 ? readConditions(reader) : earlierConditions(earlier);
  if (version >= 11) view.priceSource = reader.text() ?? "";
  return { at, view };
}

function writeWho(
  writer: ByteWriter,
  view: FundView,
  instrumentBytes: (instrument: InstrumentFacts) => Uint8Array,
): void {
  writer.byte(keyWords.indexOf(view.keySeen));
  writer.number(view.keyAgeMs);
  const amends = (view.amends ? 4 : 0) | (view.amendsAnother ? 8 : 0);
  const lasting = (view.haltsKnown ? 16 : 0) | (view.instrument ? 64 : 0);
  writer.byte((view.fundKnown ? 1 : 0) | (view.strategyKnown ? 2 : 0) | amends | lasting);
  writer.text(view.fundCurrency);
  writer.number(view.ages.mark);
  writer.number(view.ages.nav);
  writer.number(view.ages.fx);
  writer.number(view.ages.borrow);
  if (view.instrument !== undefined) writer.bytes(instrumentBytes(view.instrument));
  writer.byte(verdictKinds.indexOf(view.verdict.kind));
  if (view.verdict.kind === "none") return;
  writer.text(view.verdict.reason);
  writer.text(view.verdict.model);
  writer.text(view.verdict.promptHash);
  writer.text(view.verdict.costUsd);
  writer.number(view.verdict.tookMs);
}

function readWho(reader: ByteReader, view: FundView, earlier: EarlierConditions): void {
  view.keySeen = keyWords[reader.byte()] ?? "no";
  view.keyAgeMs = reader.number();
  const set = reader.byte();
  view.fundKnown = (set & 1) !== 0;
  view.strategyKnown = (set & 2) !== 0;
  view.amends = (set & 4) !== 0;
  view.amendsAnother = (set & 8) !== 0;
  view.haltsKnown = (set & 16) !== 0;
  earlier.throttleTripped = (set & 32) !== 0;
  view.fundCurrency = reader.text() ?? "";
  view.ages = { mark: reader.number(), nav: reader.number(), fx: reader.number(), borrow: reader.number() };
  if ((set & 64) !== 0) view.instrument = readInstrument(reader);
  const kind = verdictKinds[reader.byte()] ?? "none";
  view.verdict = kind === "none" ? noVerdict : readVerdict(reader, kind);
}

function readVerdict(reader: ByteReader, kind: Verdict["kind"]): Verdict {
  return {
    kind,
    reason: reader.text() ?? "",
    model: reader.text() ?? "",
    promptHash: reader.text() ?? "",
    costUsd: reader.text() ?? "",
    tookMs: reader.number(),
  };
}

function writeInstrument(writer: ByteWriter, instrument: InstrumentFacts): void {
  writer.text(instrument.symbol);
  writer.text(instrument.assetClass);
  writer.text(instrument.currency);
  writer.integer(toDecimal(instrument.tickSize));
  writer.integer(toDecimal(instrument.lotSize));
  writer.integer(toDecimal(instrument.multiplier));
  writer.text(instrument.sector);
  writer.text(instrument.restriction);
}

function readInstrument(reader: ByteReader): InstrumentFacts {
  return {
    symbol: reader.text() ?? "",
    assetClass: reader.text() ?? "",
    currency: reader.text() ?? "",
    tickSize: (reader.integer() ?? 0n) as Decimal,
    lotSize: (reader.integer() ?? 0n) as Decimal,
    multiplier: (reader.integer() ?? 0n) as Decimal,
    sector: reader.text() ?? "",
    restriction: reader.text(),
  };
}

function decimalOf(amount: Amount | undefined): Decimal | undefined {
  return amount === undefined ? undefined : toDecimal(amount);
}

function writeSymbol(writer: ByteWriter, view: FundView): void {
  writer.integer(decimalOf(view.position));
  writer.integer(decimalOf(view.pendingBuy));
  writer.integer(decimalOf(view.pendingSell));
  writer.integer(decimalOf(view.ownRemaining));
  writer.integer(decimalOf(view.ownFilled));
  writer.number(view.openOrders);
  writer.number(view.openOrdersMax);
  writer.integer(decimalOf(view.price));
  writer.integer(decimalOf(view.bid));
  writer.integer(decimalOf(view.ask));
  writer.number(view.priceAgeMs);
  writer.integer(decimalOf(view.fxRate));
  writer.number(view.fxAgeMs);
  writer.integer(decimalOf(view.unitValue));
  writer.integer(decimalOf(view.borrowAvailable));
  writer.integer(decimalOf(view.borrowFee));
  writer.number(view.borrowAgeMs);
}

function readSymbol(reader: ByteReader, view: FundView): void {
  view.position = (reader.integer() ?? decimal.zero) as Decimal;
  view.pendingBuy = (reader.integer() ?? decimal.zero) as Decimal;
  view.pendingSell = (reader.integer() ?? decimal.zero) as Decimal;
  view.ownRemaining = (reader.integer() ?? decimal.zero) as Decimal;
  view.ownFilled = (reader.integer() ?? decimal.zero) as Decimal;
  view.openOrders = reader.number();
  view.openOrdersMax = reader.number();
  view.price = reader.integer() as Decimal | undefined;
  view.bid = reader.integer() as Decimal | undefined;
  view.ask = reader.integer() as Decimal | undefined;
  view.priceAgeMs = reader.number();
  view.fxRate = reader.integer() as Decimal | undefined;
  view.fxAgeMs = reader.number();
  view.unitValue = reader.integer() as Decimal | undefined;
  view.borrowAvailable = reader.integer() as Decimal | undefined;
  view.borrowFee = reader.integer() as Decimal | undefined;
  view.borrowAgeMs = reader.number();
}

function writeFund(writer: ByteWriter, view: FundView): void {
  writer.integer(decimalOf(view.nav));
  writer.number(view.navAgeMs);
  writer.integer(toExact(view.grossOthers));
  writer.integer(toExact(view.netHighOthers));
  writer.integer(toExact(view.netLowOthers));
  writer.integer(toExact(view.sectorOthers));
  writer.text(view.unpricedSymbol);
  writer.number(view.oldestPriceAgeMs);
  writer.number(view.haltEpoch);
  writer.byte(view.halt === undefined ? 0 : severities.indexOf(view.halt) + 1);
  writer.text(view.haltId);
  writer.text(view.haltReason);
  writer.number(view.strategyOrdersInSecond);
  writer.number(view.fundOrdersInSecond);
  writer.number(view.repeatedExecutions);
}

function readFund(reader: ByteReader, view: FundView): void {
  view.nav = reader.integer() as Decimal | undefined;
  view.navAgeMs = reader.number();
  view.grossOthers = (reader.integer() ?? 0n) as Exact;
  view.netHighOthers = (reader.integer() ?? 0n) as Exact;
  view.netLowOthers = (reader.integer() ?? 0n) as Exact;
  view.sectorOthers = (reader.integer() ?? 0n) as Exact;
  view.unpricedSymbol = reader.text();
  view.oldestPriceAgeMs = reader.number();
  view.haltEpoch = reader.number();
  view.halt = severities[reader.byte() - 1];
  view.haltId = reader.text() ?? "";
  view.haltReason = reader.text() ?? "";
  view.strategyOrdersInSecond = reader.number();
  view.fundOrdersInSecond = reader.number();
  view.repeatedExecutions = reader.number();
}

function writeRest(writer: ByteWriter, view: FundView): void {
  const refusal = refusals.indexOf(view.amendRefusal);
  const rate = rateWords.indexOf(view.unpricedRate);
  // Two bits are the first four; forms before 13 said something else with the one that stands for the fifth.
  const word = ((refusal & 3) << 1) | (refusal > 3 ? 64 : 0);
  writer.byte((view.lowers === true ? 1 : 0) | word | (rate << 3));
  if (rate >= 2) writer.number(view.unpricedRateAgeMs ?? Number.NaN);
}

function readRest(reader: ByteReader, view: FundView, version: number, earlier: EarlierConditions): void {
  const set = reader.byte();
  view.lowers = (set & 1) !== 0;
  view.amendRefusal = refusals[((set >> 1) & 3) | (version >= 13 && (set & 64) !== 0 ? 4 : 0)];
  view.unpricedRate = rateWords[(set >> 3) & 3];
  if (((set >> 3) & 3) >= 2) view.unpricedRateAgeMs = reader.number();
  if ((set & 32) !== 0) earlier.symbolBlock = reader.text() ?? "";
  earlier.isLossPending = set >> 6 === 1;
  if (set >> 6 === 3) earlier.lossNotJudged = reader.text() ?? "";
}

function writeBlocks(writer: ByteWriter, view: FundView): void {
  const lapsed = decimalOf(view.lapsed) ?? decimal.zero;
  const isLapsed = lapsed !== decimal.zero;
  const { option } = view;
  const own = decimalOf(view.strategyPosition) ?? decimal.zero;
  const ofStrategy = (view.strategyHalted ? 16 : 0) | (own === decimal.zero ? 0 : 32);
  const held = view.heldAtBroker ? 4 : 0;
  const waits = view.exitWaits === undefined ? 0 : 64;
  const { restrictions } = view;
  const rest = held | (option === undefined ? 0 : 8) | ofStrategy | waits | (restrictions === undefined ? 0 : 128);
  writer.byte((isLapsed ? 2 : 0) | (view.closesForFund === true ? 1 : 0) | rest);
  if (isLapsed) writer.integer(lapsed);
  if (option !== undefined) writeOption(writer, option);
  if (waits !== 0) writer.text(view.exitWaits);
  if (own !== decimal.zero) {
    writer.integer(own);
    writer.integer(decimalOf(view.strategyPending));
  }
  if (restrictions !== undefined) writeRestrictions(writer, restrictions);
}

function readBlocks(reader: ByteReader, view: FundView, version: number, earlier: EarlierConditions): void {
  const set = reader.byte();
  const more = version < 10 || version >= 13 ? 0 : reader.byte();
  view.heldAtBroker = (set & 4) !== 0;
  if ((set & 1) !== 0 && version < 13) earlier.auditBlock = reader.text() ?? "";
  view.closesForFund = (set & 1) !== 0 && version >= 13;
  if ((set & 2) !== 0) view.lapsed = (reader.integer() ?? decimal.zero) as Decimal;
  if ((set & 8) !== 0) view.option = readOption(reader);
  if ((set & 64) !== 0) view.exitWaits = reader.text() ?? "";
  view.strategyHalted = (set & 16) !== 0;
  if ((set & 32) !== 0) {
    view.strategyPosition = (reader.integer() ?? decimal.zero) as Decimal;
    view.strategyPending = (reader.integer() ?? decimal.zero) as Decimal;
  }
  if ((set & 128) !== 0) {
    const restricted = readRestrictions(reader);
    const { gross, noShortOptions } = restricted;
    earlier.restricted = restricted;
    if (version >= 13 || (gross ?? noShortOptions) !== undefined) view.restrictions = { gross, noShortOptions };
  }
  if ((more & 1) !== 0) earlier.diskBlock = reader.text() ?? "";
  if ((more & 2) !== 0) earlier.changeBlock = reader.text() ?? "";
  if ((more & 4) === 0) return;
  const [blockId = "", reason = "", symbol = ""] = [reader.text(), reader.text(), reader.text()];
  earlier.openBlock = { blockId, reason, symbol, count: reader.number() };
}

function writeOption(writer: ByteWriter, option: OptionView): void {
  writer.text(option.underlying);
  writer.integer(decimalOf(option.delta));
  writer.number(option.deltaAgeMs);
  writer.integer(decimalOf(option.netValue));
  writer.integer(toExact(option.groupOthers));
  writer.integer(option.unitStress?.up);
  writer.integer(option.unitStress?.down);
  writer.integer(option.lossesOthers.up);
  writer.integer(option.lossesOthers.down);
  writer.integer(option.stressRest);
  writer.byte(option.isCall === undefined ? 0 : option.isCall ? 1 : 2);
  writer.integer(decimalOf(option.owedOthers));
  writer.integer(decimalOf(option.cover));
  writer.number(option.endsAt);
}

function readOption(reader: ByteReader): OptionView {
  const first = {
    underlying: reader.text() ?? "",
    delta: reader.integer() as Decimal | undefined,
    deltaAgeMs: reader.number(),
    netValue: reader.integer() as Decimal | undefined,
    groupOthers: (reader.integer() ?? 0n) as Exact,
  };
  const [up, down] = [reader.integer() as Decimal | undefined, reader.integer() as Decimal | undefined];
  return {
    ...first,
    unitStress: up === undefined || down === undefined ? undefined : { up, down },
    lossesOthers: { up: (reader.integer() ?? 0n) as Exact, down: (reader.integer() ?? 0n) as Exact },
    stressRest: (reader.integer() ?? 0n) as Exact,
    isCall: [undefined, true, false][reader.byte()],
    owedOthers: (reader.integer() ?? decimal.zero) as Decimal,
    cover: (reader.integer() ?? decimal.zero) as Decimal,
    endsAt: reader.number(),
  };
}
