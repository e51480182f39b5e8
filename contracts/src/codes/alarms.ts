// Every alarm: nobody asked, somebody should know.
import { type AlarmEntry, alarm } from "./shape.ts";

export const alarms = {
  // The platform itself.
  EVENT_PARKED: alarm("critical", "A subscription could not handle an event and put it aside."),
  SUBSCRIPTION_LAG: alarm("warning", "A durable subscription has fallen behind what is published."),
  EVENT_GAP: alarm(
    "critical",
    "A publisher's numbering skipped: an event may be missing. Of a foreign publisher, the fund takes no new risk until it has come or an operator accepts it: one alarm for each source, fund and kind.",
  ),
  EVENT_UNNUMBERED: alarm(
    "warning",
    "A foreign publisher sends events without a number, or new ones under numbers that were heard: one that is lost is not noticed. Reported once for each.",
  ),
  PRICE_SOURCE_REPLACED: alarm(
    "warning",
    "A source of prices has been stale for more than a minute, and another's count in its place until it is back.",
  ),
  EVENT_REFUSED: alarm(
    "critical",
    "An event of a foreign system was refused where it entered: the sentence names its publisher, the event and what is wrong.",
  ),
  ORDER_WORKS_AFTER_END: alarm(
    "critical",
    "An order whose end was reported works, or trades, more than 5 s after it: what it may still trade is reserved again.",
  ),
  ORDER_OF_ANOTHER: alarm(
    "critical",
    "A source confirmed, released, amended, cancelled or reported on orders that another source asked for: all of it was refused. At most one a minute for each source, with how many and the first ten.",
  ),
  HORIZON_STALLED: alarm("critical", "A long transaction in the database holds back every reader of the outbox."),
  OUTBOX_GROWING: alarm("warning", "The outbox grows because a subscription's cursor does not move."),
  SERVICE_LOST: alarm("critical", "A service's process ended or fell silent without being asked to."),
  STORE_OUT_OF_REACH: alarm("critical", "The store has been out of reach too long: new risk and exits are denied."),
  BUS_DISCONNECTED: alarm("warning", "The message bus is out of reach; events wait in the outbox."),
  STATE_MISMATCH: alarm("critical", "State that is kept along the way differs from its recomputation."),
  AUDIT_CHAIN_BROKEN: alarm("critical", "The audit chain does not verify."),
  AUDIT_WITNESS_CONTRADICTS: alarm(
    "critical",
    "A witness has cosigned another history of the audit log than there is.",
  ),
  AUDIT_STOPS_NEW_RISK: alarm(
    "critical",
    "The audit log takes no entries, does not verify, or is too far behind: new risk is denied.",
  ),
  DISK_SPACE_LOW: alarm("warning", "Less of the disk is free than `disk.warn_mb`."),
  DISK_STOPS_NEW_RISK: alarm(
    "critical",
    "Less of the disk is free than `disk.new_risk_mb`, or how much is cannot be measured: new risk is denied.",
  ),
  UNAUDITED_CHANGE_STOPS_NEW_RISK: alarm(
    "critical",
    "A halt, a person, a second factor, a key or a token was changed without its event, or whether one was cannot be read: new risk is denied.",
  ),
  AUDIT_TAKEN_OVER: alarm("critical", "Another process has taken the audit log; this one writes no entries any more."),
  AUDIT_CHECKPOINT_OLD: alarm(
    "critical",
    "No checkpoint has covered the newest entries of the audit log for half a minute.",
  ),
  AUDIT_ANCHOR_BEHIND: alarm("warning", "An anchor has not taken the audit log's checkpoints for minutes."),
  CONNECTIONS_CROWDED: alarm(
    "warning",
    "A listener has more connections than places: callers who showed no token make way for others.",
  ),
  CONNECTIONS_REFUSED: alarm(
    "critical",
    "Callers with a token, or our own processes, find no place among a listener's connections.",
  ),
  CERTIFICATE_EXPIRING: alarm("warning", "A TLS certificate runs out within 14 days, or has."),
  CERTIFICATE_UNUSABLE: alarm(
    "critical",
    "A TLS certificate's new files cannot be used: the one before is still served.",
  ),
  SERVICE_TOKEN_ENDING: alarm("warning", "A machine's token runs out within 14 days and has no successor."),
  SERVICE_TOKEN_ENDED: alarm("warning", "A machine's token was ended by its own holder, before it ran out."),
  REPORT_NOT_RECONCILED: alarm("critical", "A report was made whose books do not tie; every page of it says so."),
  REPORT_UNDELIVERED: alarm(
    "critical",
    "A scheduled report is not made, or one of its targets has not taken it, a day after it was due.",
  ),
  CLOCK_STEPPED: alarm("warning", "The wall clock jumped."),

  // Trading.
  HALT_RAISED: alarm("critical", "A halt is in force."),
  HALT_STEP_OPEN: alarm(
    "critical",
    "What follows a halt is not proven yet: orders may still be with a broker, or nobody was notified.",
  ),
  LOSS_LIMIT_NOT_JUDGED: alarm("critical", "A loss limit of a fund is not judged, and the fund takes no new risk."),
  LOSS_PENDING: alarm("critical", "A loss is above its limit and waits for its confirmation."),
  FLATTEN_OPEN: alarm("warning", "A flatten is not finished yet."),
  FLATTEN_NOT_FLAT: alarm("critical", "Every line of a flatten is closed, and the broker does not call the fund flat."),
  DRILL_FAILED: alarm("critical", "A halt drill did not do what a halt must do."),
  HALT_UNACKNOWLEDGED: alarm("critical", "An engine has not confirmed a halt in time."),
  SENT_AFTER_EXPIRY: alarm(
    "critical",
    "An order was sent although its approval had expired or was released; it is reserved again.",
  ),
  FILL_AFTER_EXPIRY: alarm(
    "critical",
    "An order traded although its approval had expired or was released; the position has the trade.",
  ),
  BUST_WITHOUT_FILL: alarm("warning", "A fill was busted that nobody has published yet; the bust waits for it."),
  BUST_AFTER_BASELINE: alarm(
    "critical",
    "A fill of an earlier trading day was busted: baselines that were taken since then still have it in them, so losses count too little or too much until somebody rebases.",
  ),
  ORDER_OVERFILLED: alarm(
    "critical",
    "An order traded more than it asked for, or a fill contradicts its order; an operator must accept it before new risk in the symbol.",
  ),
  FILL_OUTSIDE_COLLAR: alarm(
    "critical",
    "A fill was booked beyond the collar of the mark; an operator must accept it before new risk in the symbol.",
  ),
  FILL_NOT_JUDGED: alarm(
    "warning",
    "A fill was booked while there was no fresh price to hold it against; no new risk in the symbol before one has settled it.",
  ),
  FILLS_UNCHECKED: alarm(
    "critical",
    "So many fills of a fund wait to be accepted that the fund takes no new risk at all.",
  ),
  FILLS_HELD: alarm(
    "critical",
    "A fill of a fund cannot be taken, and those behind it wait with it: the fund takes no new risk until they are booked.",
  ),
  FILL_WITHOUT_ORDER: alarm(
    "warning",
    "A fill was booked of an order that the risk engine was never asked about; of a foreign program, in a fund that has a value, it waits to be accepted.",
  ),
  FILL_FEE_ODD: alarm(
    "critical",
    "A fill was booked with a fee above a tenth of its worth and above 100, or below minus a hundredth of it; it waits to be accepted.",
  ),
  FILL_DATE_ODD: alarm(
    "critical",
    "A fill was booked that is dated before its order was asked about, ahead of our clock, or before a corporate action that is booked; it waits to be accepted.",
  ),
  CROSS_ONE_LEG: alarm(
    "warning",
    "One leg of a foreign cross was booked and the other has not come: the symbol takes no new risk until it does, or an operator accepts it.",
  ),
  FILL_KIND_UNVOUCHED: alarm(
    "critical",
    "A foreign program published a seed, an adjustment, a settlement or a corporate action that nothing of ours vouches for; it waits to be accepted.",
  ),
  VALUE_UNEXPLAINED: alarm(
    "critical",
    "A fund's value from outside is not explained by our own positions, fills and prices, or money came or went in it that nobody vouched for; it waits to be accepted, or for one that is explained.",
  ),
  INPUT_DATED_AHEAD: alarm(
    "warning",
    "An event from outside is dated ahead of our clock, and its date is not believed.",
  ),
  EXIT_BLOCKED: alarm("critical", "A reduction could not be let through."),
  STRATEGY_THROTTLED: alarm("critical", "Repeated executions tripped a throttle that waits for an operator."),
  STOP_QUOTE_UNUSABLE: alarm("critical", "A stop's quote is stale or crossed: it neither fires nor rests."),
  STOP_EXIT_WAITING: alarm("critical", "A stop fired and its exit is not confirmed yet."),
  RECONCILE_SUSPECTED: alarm("warning", "Our position and the broker's differ at first look."),
  RECONCILE_CONFIRMED: alarm("critical", "Our position and the broker's differ, confirmed by a second look."),
  RECONCILE_STUCK: alarm(
    "critical",
    "A difference with the broker is neither confirmed nor cleared after many looks, or our books do not catch up with its reports.",
  ),
  EVENT_HELD: alarm(
    "critical",
    "A subscription that carries money stops at an event and tries it until it is handled.",
  ),
  CORPORATE_ACTION_STUCK: alarm("critical", "A corporate action was aborted, or is applied and not everybody has it."),
  FILL_UNBOOKED: alarm("critical", "A fill cannot be booked; it and those behind it in its fund wait until it can."),
  BOOKS_DIFFER: alarm("critical", "Orders, positions, cash, value or exposure do not agree with each other."),
  BOOKS_NOT_COMPARED: alarm(
    "warning",
    "The risk engine has not said for a minute what it holds: whether its exposure is right is not known.",
  ),
  ORDER_FATE_UNKNOWN: alarm(
    "critical",
    "The broker does not say what became of an order; its exposure stays reserved.",
  ),
  CHAT_UNDELIVERED: alarm("warning", "Messages could not be delivered to the chat service."),
  BROKER_SILENT: alarm("critical", "The broker does not answer; silence is not read as flat."),
  NAV_PRICES_STALE: alarm(
    "critical",
    "A fund is valued at old prices or not at all, because a position has no fresh price.",
  ),
  OPTION_EXPIRING: alarm("warning", "A fund is short in an option that ends within five days."),
  OPTION_UNSETTLED: alarm("critical", "An option has ended, and what is held of it was not settled."),
  SIGNAL_POSITION_MISMATCH: alarm(
    "critical",
    "An alert says another position before it than our books have: an alert may have been missed.",
  ),
  SIGNAL_SILENT: alarm("critical", "A strategy's alerts have stopped coming while its market is open."),
  QUOTES_SILENT: alarm("warning", "Prices have stopped coming."),
  BARS_NOT_KEPT: alarm("warning", "Prices that were heard could not be written down for later."),
  FILING_QUARANTINED: alarm(
    "critical",
    "Records for a regulator were put aside, because it would refuse them. One alarm for each fund and regime, with how many.",
  ),
  FILING_FILE_BEHIND: alarm(
    "warning",
    "Lines of a submission file could not be written; the records are durable, and the file catches up by itself.",
  ),
  FILING_BACKLOG: alarm(
    "warning",
    "What order management published is not recorded for regulators yet; the sentence says since when.",
  ),
  FILING_INCOMPLETE: alarm(
    "critical",
    "What was recorded of a fund's day is not what the audit log says that it must be: `ctl operations filings reconcile`.",
  ),
  FILING_FILE_CHANGED: alarm(
    "critical",
    "A submission file holds something else than its records. Nothing more is written to it, and it is not sealed.",
  ),
  FILING_UPLOAD_FAILED: alarm(
    "critical",
    "A day's submission file could not be sealed or sent; it is tried again every minute. The sentence says why.",
  ),
  FILING_REJECTED: alarm(
    "critical",
    "The regulator rejected a submission file or records of one. One alarm for each file and feedback.",
  ),
  FILING_FEEDBACK_UNREAD: alarm(
    "warning",
    "A feedback file cannot be read, is about no file of ours, or is too large. It changed nothing.",
  ),
  FILING_DEADLINE_NEAR: alarm(
    "warning",
    "Records of a day are due at the regulator within the hour, and have not been sent.",
  ),
  FILING_DEADLINE_MISSED: alarm("critical", "Records of a day were due at the regulator, and have not been sent."),

  // The watchdogs, one each.
  WATCHDOG_PREDICTIVE_HEALTH: alarm("warning", "NAV left the 99 % interval of its backtest."),
  WATCHDOG_DRIFT: alarm("warning", "A strategy's live skill drifted below its backtest."),
  WATCHDOG_VPIN: alarm("warning", "The probability of informed trading is above its threshold."),
  WATCHDOG_NEWS_SPIKE: alarm("warning", "News volume on held names is far above its average."),
  WATCHDOG_POSITION_ANOMALY: alarm("warning", "A position changed by an untypical size."),
  WATCHDOG_DB: alarm("warning", "The database's row counts disagree or its queries are slow."),
  WATCHDOG_STRATEGY: alarm("warning", "A strategy's profit or loss left its expected interval."),
  WATCHDOG_THETA: alarm("warning", "Net option theta is above its threshold."),
  WATCHDOG_DEPENDENCY: alarm("critical", "An upstream was unhealthy three polls in a row."),
  WATCHDOG_PORTFOLIO_VOL_DD: alarm("warning", "Realised volatility is far above its target."),
  WATCHDOG_STALE: alarm("warning", "A watchdog gets no fresh input and cannot judge."),
  WATCHDOG_CONFIG_INVALID: alarm(
    "warning",
    "A watchdog's configuration in the secrets store is out of its range; the last good one stays in force.",
  ),
  WATCHDOG_EFFECT_OPEN: alarm("critical", "What a watchdog's episode wants done could not be done yet."),
} as const satisfies Readonly<Record<string, AlarmEntry>>;

export type AlarmCode = keyof typeof alarms;
