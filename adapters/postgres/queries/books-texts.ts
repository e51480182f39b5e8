// The statements of the comparison of the books. Trades that stand only in the history from before the platform began are no business of treasury
// and the engine; they sum to zero, which their own sum shows.

/** Trades that one book lacks and another has; with more than this something is so wrong that their number says enough. */
export const missingMax = 1_000;
/** How many of a fund's entries may be newer than its value without looking like a difference. */
export const newestEntriesMax = 200;
const sentencesMax = 20;

const history = "seed-history-%";
const signed = `case when f.content->>'side' in ('BUY', 'BUY_TO_COVER') then 1 else -1 end * (f.content->>'quantity')::numeric`;
/** The trades of every fund after its mark, along the index. */
const newFills = `oms_fund o left join lateral (select ($1::json->>o.fund_id)::bigint as through) m on true
  join lateral (select * from oms_fill f where f.fund_id = o.fund_id and f.sequence > coalesce(m.through, -1)) f on true`;
const fillParts = "array[f.fund_id, f.content->>'strategy_id', f.content->>'symbol']";
/** Funds whose books are treasury's. */
const paperFunds = `select fund->>'fund_id' from reference_head h join reference_version v using (kind, version),
  json_array_elements(v.content) fund where h.kind = 'funds' and fund->>'mode' = 'PAPER'`;
const heardFill = "convert_from(j.payload, 'UTF8')::json";
const heardSigned = `case when ${heardFill}->>'side' in ('BUY', 'BUY_TO_COVER') then 1 else -1 end * (${heardFill}->>'quantity')::numeric`;

export const bookTexts = {
  marks: `select (select json_object_agg(fund_id, fill_sequence) from oms_fund) as fills,
    (select coalesce(max(number), 0) from treasury_entry) as entries, (select coalesce(max(id), 0) from risk_journal) as journal`,
  fills: `select ${fillParts} as of, sum(${signed})::text as amount, count(*) as count from ${newFills} group by 1`,
  entries: `select array[fund_id, coalesce(strategy_id, ''), symbol] as of, sum(quantity)::text as amount
    from treasury_entry where number > $1 and kind in ('FILL', 'BUST') group by 1`,
  foreignEntries: `select array[fund_id, coalesce(strategy_id, ''), symbol] as of, sum(quantity)::text as amount
    from treasury_entry e where number > $1 and kind in ('FILL', 'BUST')
      and not exists (select from oms_fill f where f.fill_id = substr(e.entry_id, 6)) group by 1`,
  postings: `select array[e.fund_id, coalesce(e.strategy_id, ''), p.account, p.currency] as of, sum(p.amount)::text as amount
    from treasury_entry e join treasury_posting p using (entry_id) where e.number > $1 group by 1`,
  journal: `select array[fund_id, ${heardFill}->>'symbol'] as of, sum(${heardSigned})::text as amount
    from risk_journal j where fill_id is not null and id > $1 group by 1`,
  foreignJournal: `select array[fund_id, ${heardFill}->>'symbol'] as of, sum(${heardSigned})::text as amount
    from risk_journal j where fill_id is not null and id > $1
      and not exists (select from oms_fill f where f.fill_id = j.fill_id) group by 1`,
  newestJournal: `select array[fund_id, ${heardFill}->>'symbol'] as of, (${heardSigned})::text as amount
    from risk_journal j where fill_id is not null and id > $1 order by id`,
  positions: "select array[fund_id, strategy_id, symbol] as of, quantity::text as amount from oms_position",
  liveOrders: `select content from oms_order where is_open and state <> 'PENDING_CHECK' order by order_id`,
  knownOrders: "select content, is_open from oms_order where order_id = any($1)",
  holdings: "select array[fund_id, symbol] as of, quantity::text as amount from treasury_holding",
  strategyHoldings:
    "select array[fund_id, strategy_id, symbol] as of, quantity::text as amount from treasury_strategy_holding",
  balances: "select array[fund_id, account, currency] as of, amount::text as amount from treasury_balance",
  navs: `select fund_id, content->'newest' as newest from treasury_fund
    where content->'newest'->>'cash' is not null and content->'newest'->>'positions_value' is not null`,
  newestEntries: `select n.fund_id, n.number, n.symbol, n.quantity::text as quantity,
      (select json_agg(json_build_array(p.currency, p.amount::text)) from treasury_posting p
       where p.entry_id = n.entry_id and p.account = 'cash') as cash
    from treasury_fund t join lateral (
      select fund_id, entry_id, number, symbol, quantity from treasury_entry e
      where e.fund_id = t.fund_id order by number desc limit $1) n on true order by n.number desc`,
  due: `select d->>'fundId' as fund_id, content->'dividend'->>'currency' as currency, d->>'amount' as amount,
      content->>'doneAt' as paid_at
    from corporate_action, json_array_elements(content->'dividend'->'due') d
    where applied_us is not null and (state = 'EX' or (content->>'doneAt')::bigint > $1)`,
  instruments: `select one->>'symbol' as symbol, one->>'currency' as currency, one->>'multiplier' as multiplier
    from reference_head h join reference_version v using (kind, version), json_array_elements(v.content) one
    where h.kind = 'instruments'`,
  unbooked: `select f.fill_id, ${fillParts} as of, (${signed})::text as amount from ${newFills}
    where f.fill_id not like '${history}' and f.fund_id in (${paperFunds})
      and not exists (select from treasury_entry e where e.entry_id = 'fill:' || f.fill_id)
    order by f.fund_id, f.sequence limit $2`,
  unheard: `select f.fill_id, ${fillParts} as of, (${signed})::text as amount from ${newFills}
    where f.fill_id not like '${history}' and not exists (select from risk_journal j where j.fill_id = f.fill_id)
    order by f.fund_id, f.sequence limit $2`,
  unbalanced: `select format('The entry %s is out of balance by %s %s.', entry_id, sum(p.amount), p.currency) as sentence
    from treasury_entry e join treasury_posting p using (entry_id) where e.number > $1
    group by entry_id, p.currency having sum(p.amount) <> 0 limit ${sentencesMax}`,
  unequal: `select format('The trade %s is %s %s in order management, %s %s in treasury and %s %s in the risk engine.', f.fill_id,
      ${signed}, f.content->>'symbol', coalesce(e.quantity::text, 'nothing'), e.symbol,
      coalesce((${heardSigned})::text, 'nothing'), ${heardFill}->>'symbol') as sentence
    from ${newFills} left join treasury_entry e on e.entry_id = 'fill:' || f.fill_id
      left join risk_journal j on j.fill_id = f.fill_id
    where (e.entry_id is not null and (e.quantity <> ${signed} or e.symbol <> f.content->>'symbol'))
       or (j.fill_id is not null and (${heardSigned} <> ${signed} or ${heardFill}->>'symbol' <> f.content->>'symbol'))
    limit ${sentencesMax}`,
} as const;
