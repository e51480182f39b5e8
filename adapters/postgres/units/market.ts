// The market as it was heard, in a transaction.
import { type Decimal, format, parse } from "../../../contracts/src/decimal.ts";
import { fromMicroseconds, type Instant, microsecondsPerSecond } from "../../../contracts/src/instant.ts";
import type { NewsItem } from "../../../contracts/src/records/market.ts";
import type {
  BarSlice,
  ForgetBefore,
  GatheredBar,
  KeptNews,
  MarketRecords,
  MinuteBar,
  NewsQuery,
} from "../../../ports/market-records.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

const hourUs = 3_600 * microsecondsPerSecond;

const insertMinutes = `
insert into market_minute (symbol, start_us, open, high, low, close, quote_count, source, cut)
select * from unnest($1::text[], $2::bigint[], $3::numeric[], $4::numeric[], $5::numeric[], $6::numeric[], $7::bigint[], $8::text[], $9::boolean[])
on conflict do nothing`;

const insertSlices = `
insert into market_slice (symbol, start_us, slices)
select * from unnest($1::text[], $2::bigint[], $3::json[]) on conflict do nothing`;

/** From the hour after the newest that there is: an hour is made once, when it is over. */
const insertHours = `
insert into market_hour (symbol, start_us, open, high, low, close, quote_count, source, cut, minutes)
select symbol, start_us / ${hourUs} * ${hourUs} as hour_us, (array_agg(open order by start_us))[1], max(high), min(low),
  (array_agg(close order by start_us desc))[1], sum(quote_count), (array_agg(source order by start_us desc))[1], bool_or(cut), count(*)
from market_minute
where start_us >= coalesce((select max(start_us) + ${hourUs} from market_hour where symbol = ''), -9007199254740991) and start_us < $1
group by symbol, hour_us on conflict do nothing`;

const gatherText = (table: string, minutes: string): string => `
select floor((start_us - $2::bigint)::numeric / $3::bigint)::bigint as bucket, (array_agg(open order by start_us))[1] as open, max(high) as high,
  min(low) as low, (array_agg(close order by start_us desc))[1] as close, sum(quote_count) as quote_count,
  (array_agg(source order by start_us desc))[1] as source, bool_or(cut) as cut, ${minutes} as minutes
from ${table} where symbol = $1 and start_us >= $4 and start_us < $5 group by bucket order by bucket desc limit $6`;
const gatherTexts = {
  minute: gatherText("market_minute", "count(*)"),
  hour: gatherText("market_hour", "sum(minutes)"),
};

export function marketRecords(sql: Sql): MarketRecords {
  return {
    ...keeping(sql),
    async gather({ symbol, of, originUs, lengthUs, from, to, countMax }) {
      const values = [columnOfText(symbol), originUs, lengthUs, from, to, countMax];
      const found = await sql.read({ name: `market_gather_${of}`, text: gatherTexts[of], values });
      return (found.rows as readonly GatheredRow[]).map((row) => gatheredOf(symbol, row)).reverse();
    },
    async minute(symbol, start) {
      const found = await sql.read({
        name: "market_minute_read",
        text: `select m.open, m.source, s.slices from market_minute m left join market_slice s using (symbol, start_us)
               where m.symbol = $1 and m.start_us = $2`,
        values: [columnOfText(symbol), start],
      });
      const [row] = found.rows;
      if (row === undefined) return undefined;
      return { open: parse(row.open), source: textOfColumn(row.source), slices: slicesOf(row.slices ?? []) };
    },
    async kept(symbol) {
      const found = await sql.read({
        name: "market_kept",
        text: `select least((select min(start_us) from market_minute where symbol = $1), (select min(start_us) from market_hour where symbol = $1)) as first,
                 (select max(start_us) from market_hour where symbol = '') as last_hour`,
        values: [columnOfText(symbol)],
      });
      const [row] = found.rows;
      return { first: instantOf(row?.first ?? null), lastHour: instantOf(row?.last_hour ?? null) };
    },
    news: (query) => newsOf(sql, query),
    async newsItem(newsId) {
      const found = await sql.read({
        name: "market_news_item",
        text: "select at_us, recorded_us, content from market_news where news_id = $1",
        values: [columnOfText(newsId)],
      });
      return (found.rows as readonly NewsRow[]).map(newsItemOf)[0];
    },
  };
}

function keeping(sql: Sql): Pick<MarketRecords, "keepMinutes" | "keepHours" | "keepNews" | "forget"> {
  return {
    async keepMinutes(bars) {
      const column = <Value>(of: (bar: MinuteBar) => Value): Value[] => bars.map(of);
      const [symbols, starts] = [column((bar) => columnOfText(bar.symbol)), column((bar) => bar.start)];
      const prices = (["open", "high", "low", "close"] as const).map((name) => column((bar) => format(bar[name])));
      const rest = [
        column((bar) => bar.quoteCount),
        column((bar) => columnOfText(bar.source)),
        column((bar) => bar.cut),
      ];
      await sql.write({ name: "market_minutes", text: insertMinutes, values: [symbols, starts, ...prices, ...rest] });
      const slices = column((bar) => JSON.stringify(bar.slices.map(plainSlice)));
      await sql.write({ name: "market_slices", text: insertSlices, values: [symbols, starts, slices] });
    },
    async keepHours(before) {
      await sql.write({ name: "market_hours", text: insertHours, values: [Math.floor(before / hourUs) * hourUs] });
    },
    async keepNews(items) {
      await sql.write({
        name: "market_news_insert",
        text: `insert into market_news (news_id, at_us, recorded_us, content)
               select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::json[]) on conflict do nothing`,
        values: [
          items.map(({ item }) => columnOfText(item.news_id)),
          items.map(({ at }) => at),
          items.map(({ recordedAt }) => recordedAt),
          items.map(({ item }) => JSON.stringify(item)),
        ],
      });
    },
    async forget({ minutes, slices, news }: ForgetBefore, countMax) {
      const tables = [
        ["market_minute", "start_us", minutes],
        ["market_slice", "start_us", slices],
        ["market_news", "recorded_us", news],
      ] as const;
      let removed = 0;
      for (const [table, column, before] of tables) {
        const old = `select ctid from ${table} where ${column} < $1 order by ${column} limit $2`;
        const text = `delete from ${table} where ctid = any (array(${old}))`;
        removed += (await sql.write({ name: `forget_${table}`, text, values: [before, countMax] })).rowCount ?? 0;
      }
      return removed;
    },
  };
}

async function newsOf(sql: Sql, { from, to, after, countMax }: NewsQuery): Promise<readonly KeptNews[]> {
  const found = await sql.read({
    name: "market_news_read",
    text: `select at_us, recorded_us, content from market_news
           where recorded_us between $1 and $2 and (recorded_us, news_id) > ($3, $4) order by recorded_us, news_id limit $5`,
    values: [from, to, after?.recordedAt ?? from - 1, columnOfText(after?.newsId ?? ""), countMax],
  });
  return (found.rows as readonly NewsRow[]).map(newsItemOf);
}

interface GatheredRow {
  readonly bucket: string;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly quote_count: string;
  readonly source: string;
  readonly cut: boolean;
  readonly minutes: string;
}

interface NewsRow {
  readonly at_us: string;
  readonly recorded_us: string;
  readonly content: NewsItem;
}

type PlainSlice = readonly [untilSecond: number, high: string, low: string, close: string, quoteCount: number];

const plainSlice = ({ untilSecond, high, low, close, quoteCount }: BarSlice): PlainSlice => [
  untilSecond,
  format(high),
  format(low),
  format(close),
  quoteCount,
];

function slicesOf(plain: readonly PlainSlice[]): readonly BarSlice[] {
  return plain.map(([untilSecond, high, low, close, quoteCount]) => ({
    untilSecond,
    high: parse(high),
    low: parse(low),
    close: parse(close),
    quoteCount,
  }));
}

function gatheredOf(symbol: string, row: GatheredRow): GatheredBar {
  const price = (text: string): Decimal => parse(text);
  return {
    symbol,
    bucket: Number(row.bucket),
    open: price(row.open),
    high: price(row.high),
    low: price(row.low),
    close: price(row.close),
    quoteCount: Number(row.quote_count),
    source: textOfColumn(row.source),
    cut: row.cut,
    minutes: Number(row.minutes),
  };
}

function newsItemOf({ at_us, recorded_us, content }: NewsRow): KeptNews {
  return { item: content, at: fromMicroseconds(Number(at_us)), recordedAt: fromMicroseconds(Number(recorded_us)) };
}

function instantOf(microseconds: string | null): Instant | undefined {
  return microseconds === null ? undefined : fromMicroseconds(Number(microseconds));
}
