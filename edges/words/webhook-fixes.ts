// What to change in an alert that was refused, by code: the column of docs/webhook.md, for pages (a test holds both together).
const fixes: Readonly<Record<string, string>> = {
  NOT_FOUND: "`POST` to exactly `/tradingview/webhook`",
  INVALID_ARGUMENT: "`POST` to exactly `/tradingview/webhook`",
  WEBHOOK_BODY_TOO_LARGE: "at most 4,096 bytes: shorten `thesis`",
  WEBHOOK_ADDRESS_NOT_ALLOWED:
    "the sender is not in `tradingview.source_addresses`; behind a proxy set `http.trusted_proxies`",
  WEBHOOK_CONTENT_TYPE: "send `application/json` or `text/plain`",
  WEBHOOK_BODY_INVALID:
    "no JSON at the line and column named: a quotation mark, comma or brace; or a member that stands twice",
  DEADLINE_EXCEEDED: "the body did not come in time: check the proxy",
  WEBHOOK_SECRET_WRONG: "`secret` is not `fund_id`'s, or the fund has none: `ctl signals rotate-secret`",
  WEBHOOK_RATE_EXCEEDED: "ten a second for a fund: spread the alerts; `Retry-After` says when",
  WEBHOOK_KEY_DUPLICATE: "nothing: the same alert was accepted before, as `original`",
  WEBHOOK_KEY_REUSED: "another alert took the key: put order id, ticker and `{{timenow}}` into it",
  WEBHOOK_FIELD_INVALID: "the field named is missing, unknown or malformed",
  WEBHOOK_PLACEHOLDER_UNRESOLVED: "the alert's kind does not know that `{{placeholder}}`",
  WEBHOOK_NOT_A_NUMBER: "the script had no value (NaN) when it fired",
  WEBHOOK_STRATEGY_UNKNOWN: "name one of the fund's strategies: `ctl research strategies list`",
  WEBHOOK_FUND_NOT_ENABLED: "name the LIVE fund in `tradingview.live_funds`",
  WEBHOOK_VENUE_UNKNOWN: "send our own symbol, or map it in `tradingview.funds.<fund_id>.symbols`",
  WEBHOOK_FEED_DELAYED: "`_DL` and `_DLY` are delayed: alert on the live feed",
  WEBHOOK_SYMBOL_PERPETUAL: "`.P` is a perpetual: alert on the spot pair",
  WEBHOOK_SYMBOL_CONTINUOUS: "`NQ1!` is a continuous future: name the contract",
  WEBHOOK_SYMBOL_UNKNOWN: "a spread, unreadable, or no such instrument: `ctl treasury instruments list`",
  WEBHOOK_REVERSAL: "write the two alerts that `detail` shows: close, then open",
  WEBHOOK_ALERT_TOO_OLD: "it fired longer ago than `tradingview.max_age_s`",
  WEBHOOK_ALERT_AHEAD: "its time is more than 60 s ahead: send `{{timenow}}`",
  WEBHOOK_ALERT_TIME_MISSING: "`tradingview.require_time` is on: send `timestamp`",
  WEBHOOK_POSITION_MISMATCH: "an alert was missed: bring our books and the chart together (`on_mismatch: refuse`)",
  WEBHOOK_BROKER_UNCLEAR: "name `tradingview.funds.<fund_id>.broker`",
  SECRETS_UNAVAILABLE: "nothing: it is sent again by itself; if it lasts, `ctl doctor`",
  STORE_UNAVAILABLE: "nothing: it is sent again by itself; if it lasts, `ctl doctor`",
  SERVICE_UNAVAILABLE: "nothing: it is sent again by itself; if it lasts, `ctl doctor`",
};

/** Undefined for a code that is not the webhook's own. */
export function webhookFix(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(fixes, code) ? fixes[code] : undefined;
}
