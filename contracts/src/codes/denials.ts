// Every denial: the business said no. Those of the gates answer CheckOrder with gRPC OK and approved false; the others
// refuse a command and carry a status.
import { filingDenials } from "./filing-denials.ts";
import { foreignDenials, ownerDenials } from "./foreign-denials.ts";
import { identityDenials } from "./identity-denials.ts";
import { type AnswerCode, denial, exitCodes } from "./shape.ts";
import { ownershipDenials, vouchingDenials } from "./vouching.ts";

/** By gate, in the order of the gates. */
export const gateDenials = {
  idempotency: {
    DUPLICATE_KEY: denial("The same order was asked within 5 minutes; its first decision is attached."),
    KEY_REUSED: denial("The idempotency key was used within 5 minutes for another order, or by another caller."),
  },
  schema: {
    SCHEMA_FIELD_MISSING: denial("A field that every order needs is absent."),
    SCHEMA_FIELD_INVALID: denial("A field is not of its kind, or out of its range."),
    SCHEMA_FIELD_TOO_LONG: denial("A field is longer than its limit."),
    SCHEMA_VALUE_UNKNOWN: denial("A side, order type, time in force or asset class is not one of the known words."),
    SCHEMA_DECIMAL_INVALID: denial("A quantity or price is not a plain decimal above zero."),
    SCHEMA_LIMIT_PRICE_MISSING: denial("A limit order has no limit price."),
    SCHEMA_STOP_PRICE_MISSING: denial("A stop order has no stop price."),
    SCHEMA_EXPIRY_INVALID: denial("A GTD order has no end, or one that has passed; or another order has one."),
    SCHEMA_NOTIONAL_MISMATCH: denial("The notional contradicts quantity times price beyond the tolerance."),
    SCHEMA_NOTIONAL_OVERFLOW: denial("Quantity times price has more digits than can be kept exactly."),
    SCHEMA_SYMBOL_UNKNOWN: denial("There is no such instrument."),
    SCHEMA_ASSET_CLASS_MISMATCH: denial("The instrument is of another asset class."),
    SCHEMA_CURRENCY_MISMATCH: denial("The instrument trades in another currency."),
    SCHEMA_FUND_UNKNOWN: denial("There is no such fund."),
    SCHEMA_STRATEGY_UNKNOWN: denial("The fund has no such strategy."),
    SCHEMA_QUANTITY_OFF_LOT: denial("The quantity is not a multiple of the lot size."),
    SCHEMA_PRICE_OFF_TICK: denial("A price is not a multiple of the tick size."),
    SCHEMA_SHORT_NOT_REDUCING: denial("A SELL_SHORT order is marked reduce_only, and it only ever opens or adds."),
    SCHEMA_REDUCE_ONLY_UNPROVEN: denial("The order claims to reduce only, and it would not."),
    SCHEMA_AMENDMENT_MISMATCH: denial(
      "The order id belongs to an open order that cannot be amended so: another one, ended, or not yet approved.",
    ),
    ...ownerDenials,
    SCHEMA_CREATED_AT_IMPLAUSIBLE: denial("The order says that it was made in the future or too long ago."),
  },
  static: {
    ENVELOPE_MISSING: denial("The fund has no risk envelope, so nothing is allowed."),
    BROKER_NOT_ALLOWED: denial("The envelope does not allow this broker."),
    ORDER_TYPE_NOT_ALLOWED: denial("The envelope does not allow this order type."),
    ASSET_CLASS_NOT_ALLOWED: denial("The envelope does not allow this asset class."),
    NOTIONAL_ABOVE_MAX: denial("The order is worth more than the envelope's largest order."),
    PRICE_OUTSIDE_COLLAR: denial("The price lies too far from a fresh reference price."),
    CORPORATE_ACTION_UNDER_WAY: denial(
      "A split or a change of the symbol is under way; nothing is decided in it meanwhile.",
    ),
    SYMBOL_BLOCKED: denial("Our position in the symbol and the broker's differ, so no new risk is taken in it."),
    AGGRESSIVE_THROTTLED: denial(
      "A watchdog sees informed trading in the symbol, so no marketable order adds risk in it; passive ones pass.",
    ),
    NEWS_COOLDOWN: denial(
      "A watchdog sees extraordinary news on the symbol, so no new risk is taken in it for a while.",
    ),
    STRATEGY_SHADOWED: denial("A watchdog has shadowed the strategy: only its reductions pass."),
    RESTRICTIONS_UNKNOWN: denial(
      "Which restrictions of watchdogs are in force is not known, which counts as restricted.",
    ),
    SYMBOL_RESTRICTED: denial("The symbol is on the restricted list."),
    OPTION_EXPIRED: denial("The option has ended: what is held of it is settled, not traded."),
    ORDER_RATE_EXCEEDED: denial("Orders come faster than the envelope allows."),
    OPEN_ORDERS_EXCEEDED: denial("The fund has as many open orders as it may have."),
    THROTTLE_TRIPPED: denial("Repeated executions tripped the throttle; an operator must re-enable it."),
    REFERENCE_PRICE_MISSING: denial("There is no price to value the order with."),
    REFERENCE_PRICE_STALE: denial("The newest price is too old to value the order with."),
    FX_RATE_MISSING: denial("There is no exchange rate into the fund's currency."),
    FX_RATE_STALE: denial("The newest exchange rate is too old."),
    ...ownershipDenials,
  },
  position_risk: {
    POSITION_LIMIT_EXCEEDED: denial("The position that could result is a larger share of NAV than allowed."),
    GROSS_EXPOSURE_EXCEEDED: denial("The gross exposure that could result is above its limit."),
    GROSS_EXPOSURE_REDUCED: denial(
      "The gross exposure that could result is above what a watchdog's episode has reduced it to.",
    ),
    NET_EXPOSURE_EXCEEDED: denial("The net exposure that could result is above its limit."),
    SECTOR_LIMIT_EXCEEDED: denial("The exposure to the sector that could result is above its limit."),
    ...vouchingDenials,
    NAV_MISSING: denial("The fund has not been valued, so no share of it can be computed."),
    NAV_STALE: denial("The fund's newest value is too old."),
    NAV_NOT_POSITIVE: denial("The fund is worth nothing or less, so no new risk is allowed."),
    MARK_MISSING: denial("A position has no price, so exposure cannot be computed."),
    MARK_STALE: denial("A position's newest price is too old."),
    STRESS_LOSS_EXCEEDED: denial(
      "What the fund's options and their underlyings could lose in the stress is a larger share of NAV than allowed.",
    ),
    DELTA_MISSING: denial("An option has no delta, so what it adds to the exposure cannot be computed."),
    DELTA_STALE: denial("An option's newest delta, or its underlying's price, is too old."),
    EXPOSURE_OVERFLOW: denial("An exposure has more digits than can be kept exactly."),
  },
  drawdown_halt: {
    FIRM_HALTED: denial("The whole firm is halted."),
    FUND_HALTED: denial("The fund is halted."),
    STRATEGY_HALTED: denial("The strategy is halted."),
    STRATEGY_REDUCTION_UNPROVEN: denial(
      "The strategy is halted, and the order would reduce the fund's position but not the strategy's own.",
    ),
    HALT_STATE_UNKNOWN: denial("Whether a halt is in force cannot be known, which counts as halted."),
    LOSS_CONFIRMATION_PENDING: denial("A loss above its limit waits for its confirmation."),
    LOSS_NOT_JUDGED: denial("A loss limit of the envelope is not judged; the reason says which, why and what ends it."),
    AUDIT_UNAVAILABLE: denial("The audit log takes no entries, does not verify, or is too far behind the outbox."),
    DISK_LOW: denial("Too little of the disk is free for new risk, or how much is cannot be measured."),
    UNAUDITED_CHANGE: denial(
      "A halt, a person, a second factor, a key or a token was changed without its event, or whether one was cannot be read.",
    ),
  },
  short_side: {
    EXIT_HAS_PRIORITY: denial(
      "An exit of the platform waits for room that unsent approvals hold: nothing else trades that way in the symbol before it.",
    ),
    COVER_EXCEEDS_SHORT: denial("A BUY_TO_COVER is for more than is short and not being bought back already."),
    SELL_EXCEEDS_LONG: denial(
      "A SELL is for more than is held and not being sold already; a short sale is a SELL_SHORT.",
    ),
    SHORT_WHILE_LONG: denial("A SELL_SHORT, while the fund is long: a SELL closes that first."),
    BUY_CROSSES_ZERO: denial("A BUY is for more than is short: it would close a short position and open a long one."),
    EXIT_EXCEEDS_STRATEGY: denial(
      "An order marked reduce_only is for more than its own strategy holds beyond what that strategy's other open orders may close.",
    ),
    SHORT_OPTIONS_BLOCKED: denial("A watchdog sees too much theta in the fund, so no option is sold short."),
    SHORTING_DISABLED: denial("The envelope does not allow short positions."),
    BORROW_UNAVAILABLE: denial("There is not enough to borrow for the short that could result."),
    BORROW_FEE_EXCEEDED: denial("Borrowing costs more than the envelope allows."),
    BORROW_MISSING: denial("Nothing is known about borrowing this symbol."),
    BORROW_STALE: denial("What is known about borrowing this symbol is too old."),
  },
  cro_veto: {
    RISK_OFFICER_VETO: denial("The risk officer vetoed the order."),
    RISK_OFFICER_TIMEOUT: denial("The risk officer did not answer in time, and the fund's policy is to deny."),
    RISK_OFFICER_UNREADABLE: denial("The risk officer's answer could not be read as a verdict."),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, AnswerCode>>>>;

/** Of gates, and said no more: they stand in records of earlier versions, which are read and replayed as they are. */
export const retiredDenials = {
  LOSS_BASELINE_MISSING: denial(
    "It was not known yet from where on the period's losses are counted; now LOSS_NOT_JUDGED.",
  ),
} as const satisfies Readonly<Record<string, AnswerCode>>;

export const commandDenials = {
  // Envelopes.
  ENVELOPE_INVALID: denial("A limit is out of its range, or two limits contradict each other.", "INVALID_ARGUMENT"),
  ENVELOPE_VERSION_CONFLICT: denial("The version is not the previous one plus 1: somebody was faster.", "ABORTED"),
  LOOSENING_DURING_HALT: denial("The update loosens a limit while a halt is in force.", "FAILED_PRECONDITION"),

  THROTTLE_NOT_TRIPPED: denial("The strategy's throttle has not tripped.", "FAILED_PRECONDITION"),
  BLOCK_NOT_OPEN: denial("The block has been accepted, or was settled by a price.", "FAILED_PRECONDITION"),
  GAP_CHANGED: denial("The gap misses other numbers than those that its acceptance names.", "ABORTED"),
  APPROVAL_SENT: denial(
    "Something shows that the order was sent: what is reserved for it stays until it ends.",
    "FAILED_PRECONDITION",
  ),
  REASON_MISSING: denial("This is not done without a reason.", "FAILED_PRECONDITION"),
  REFERENCE_INVALID: denial("The reference data does not match its schema.", "INVALID_ARGUMENT"),
  REFERENCE_IN_USE: denial(
    "Something that is held, open, owed or halted needs what the change would take away.",
    "FAILED_PRECONDITION",
  ),
  REFERENCE_SAME_PERSON: denial(
    "Who asked for a change of reference data and who signs it must be two people.",
    "PERMISSION_DENIED",
  ),
  REFERENCE_REQUEST_UNKNOWN: denial("There is no such request to change reference data.", "NOT_FOUND", {
    exit: exitCodes.refused,
  }),
  REFERENCE_REQUEST_EXPIRED: denial(
    "The request to change reference data was not signed in time, or its requester's logins were ended.",
    "FAILED_PRECONDITION",
  ),
  REFERENCE_VERSION_CONFLICT: denial("The version is not the previous one plus 1: somebody was faster.", "ABORTED"),

  WATCHDOG_VERSION_CONFLICT: denial(
    "The watchdog's configuration has another version than the one that was read: somebody was faster.",
    "ABORTED",
  ),

  // Halts and lifting them.
  HALT_SCOPE_INVALID: denial(
    "The halt does not say its level and whom it halts, or names somebody whom there is not.",
    "INVALID_ARGUMENT",
  ),
  HALT_NOT_ACTIVE: denial("There is no such halt in force.", "FAILED_PRECONDITION"),
  RESUME_NOT_OPERATOR: denial("Only an operator may lift a halt.", "PERMISSION_DENIED"),
  RESUME_REASON_MISSING: denial("A halt is not lifted without a reason.", "FAILED_PRECONDITION"),
  RESUME_SECOND_FACTOR_MISSING: denial("This resume needs a second factor.", "PERMISSION_DENIED"),
  RESUME_SECOND_FACTOR_WRONG: denial("The one-time code is wrong, expired or already used.", "PERMISSION_DENIED"),
  RESUME_REBASE_NOT_RISK_OFFICER: denial(
    "Only an operator who is a risk officer too may lift a halt and count losses anew.",
    "PERMISSION_DENIED",
  ),
  RESUME_COSIGN_SAME_PERSON: denial("Requester and co-signer must be two people.", "PERMISSION_DENIED"),
  RESUME_COSIGN_FORGED: denial(
    "The co-signer named in the request is not the operator who called.",
    "PERMISSION_DENIED",
  ),
  RESUME_REQUEST_UNKNOWN: denial("There is no such resume request.", "NOT_FOUND", { exit: exitCodes.refused }),
  RESUME_REQUEST_VOID: denial("The halts changed since the resume was requested.", "FAILED_PRECONDITION"),
  RESUME_REQUEST_EXPIRED: denial("The resume request was not co-signed in time.", "FAILED_PRECONDITION"),
  CONFIRMATION_WRONG: denial("The confirmation word is missing or wrong.", "FAILED_PRECONDITION", {
    exit: exitCodes.declined,
  }),

  ...identityDenials,

  // Order management.
  ORDER_HALTED: denial("A halt covers this order, so it was refused at the door.", "FAILED_PRECONDITION"),
  ORDER_FUND_FLATTENING: denial(
    "A flatten closes the fund; until it is flat only exits are taken.",
    "FAILED_PRECONDITION",
  ),
  ORDER_DENIED: denial("The risk engine denied the order; the decision says why.", "FAILED_PRECONDITION"),
  ORDER_KEY_CONFLICT: denial("The idempotency key belongs to another order.", "ABORTED"),
  ORDER_NOT_OPEN: denial("The order can no longer be cancelled or amended.", "FAILED_PRECONDITION"),
  APPROVAL_EXPIRED: denial("The approval ran out before the order was sent.", "FAILED_PRECONDITION"),
  APPROVAL_RELEASED: denial("The approval was released before the order was sent.", "FAILED_PRECONDITION"),
  APPROVAL_SPENT: denial("The approval was spent on an earlier sending or amendment.", "FAILED_PRECONDITION"),
  APPROVAL_OUTDATED: denial("A halt came between the approval and the sending.", "FAILED_PRECONDITION"),
  ORDER_REFERENCE_GONE: denial(
    "Its fund, strategy or instrument was taken out of the reference data after the approval.",
    "FAILED_PRECONDITION",
  ),
  ORDER_CHECK_UNANSWERED: denial(
    "The risk engine did not answer while the order's key was good.",
    "FAILED_PRECONDITION",
  ),
  ORDER_BROKER_REJECTED: denial("The broker refused the order.", "FAILED_PRECONDITION"),
  ORDER_BROKER_UNKNOWN: denial("There is no such broker here.", "INVALID_ARGUMENT"),
  ADJUSTMENT_REFERENCE_GONE: denial(
    "The reference data has no such instrument, fund or strategy, so that nobody could value or close the position.",
    "FAILED_PRECONDITION",
  ),
  ADJUSTMENT_OUTDATED: denial("The position moved since the broker's answer that it should be set to.", "ABORTED"),
  CROSS_OUTDATED: denial("A position moved, or an exit of its own came, since the cross was asked for.", "ABORTED"),
  CROSS_UNPRICED: denial("There is no fresh mark at which two strategies could be crossed.", "FAILED_PRECONDITION"),
  CROSS_HALTED: denial("A halt is in force, and the fund's envelope lets no exit pass it.", "FAILED_PRECONDITION"),
  STOP_NOT_OPEN: denial("There is no such stop, or it is over.", "FAILED_PRECONDITION"),
  WEATHER_NOT_PAPER: denial("There is no paper broker here to suffer.", "FAILED_PRECONDITION"),
  FUND_NOT_PAPER: denial("Only paper funds may be flattened this way.", "FAILED_PRECONDITION"),

  // Treasury.
  FLOW_NOT_PAPER: denial("The fund trades money: its books are its own treasury's.", "FAILED_PRECONDITION"),
  REBUILD_NOT_PAPER: denial("The fund trades money: its books are its own treasury's.", "FAILED_PRECONDITION"),
  REBUILD_FILLS_WAIT: denial("Fills of the fund wait to be booked: they are booked first.", "FAILED_PRECONDITION"),
  FLOW_HALTED: denial("A halt of the firm or the fund is in force, or may be: no money leaves.", "FAILED_PRECONDITION"),
  FLOW_LIMIT_EXCEEDED: denial(
    "After the withdrawal NAV would not be above zero, or an exposure limit would not hold; the reason says how much may leave.",
    "FAILED_PRECONDITION",
  ),
  FLOW_LIMITS_UNKNOWN: denial(
    "Whether the limits hold after the withdrawal cannot be evaluated; the reason says why.",
    "FAILED_PRECONDITION",
  ),
  FLOW_CASH_SHORT: denial("The fund has less cash than the withdrawal.", "FAILED_PRECONDITION"),
  CORPORATE_ACTION_CONFLICT: denial("The action_id belongs to another corporate action.", "ABORTED"),
  CORPORATE_ACTION_EARLY: denial("The ex-date is more than 7 days ahead.", "FAILED_PRECONDITION"),
  CORPORATE_ACTION_NOT_SHARE: denial(
    "Only shares pay dividends, are split or change their symbol.",
    "FAILED_PRECONDITION",
  ),
  CORPORATE_ACTION_STANDS: denial("Something stands against the corporate action.", "FAILED_PRECONDITION"),
  FLOW_KEY_CONFLICT: denial("The idempotency key belongs to another flow.", "ABORTED"),

  ...foreignDenials,
  ...filingDenials,

  // The record of what happened.
  LOG_NOT_BROKEN: denial("The audit log verifies: a whole log is not closed.", "FAILED_PRECONDITION"),
  ANEW_SAME_PERSON: denial("Requester and co-signer must be two people.", "PERMISSION_DENIED"),
  ANEW_REQUEST_UNKNOWN: denial("There is no such request to begin the audit log anew.", "NOT_FOUND", {
    exit: exitCodes.refused,
  }),
  ANEW_REQUEST_VOID: denial("The log that the request names is not the one that is written.", "FAILED_PRECONDITION"),
  ANEW_REQUEST_EXPIRED: denial(
    "The request to begin the audit log anew was not co-signed in time.",
    "FAILED_PRECONDITION",
  ),
  AUDIT_KEY_CONFLICT: denial("The idempotency key belongs to another entry.", "ABORTED"),
  AUDIT_NAME_RESERVED: denial(
    "The action, or a member of the data, is one that only the platform writes.",
    "INVALID_ARGUMENT",
  ),

  // What subscriptions put aside.
  PARKED_BEHIND_ANOTHER: denial(
    "An earlier event of the same key or lane was put aside as well: that one is first.",
    "FAILED_PRECONDITION",
  ),
  PARKED_MONEY: denial("What carries money and can be read is tried until it is handled.", "FAILED_PRECONDITION"),

  // What the repository bot refuses, and why one of its runs did not act.
  GITHUB_APP_TOO_POWERFUL: denial(
    "The App at GitHub holds permissions that the bot must not have.",
    "FAILED_PRECONDITION",
  ),
  GITHUB_APP_LACKS_PERMISSION: denial(
    "The App's installation at GitHub lacks a permission that the bot needs.",
    "FAILED_PRECONDITION",
  ),
  BOT_NOT_INSTALLED: denial("The repository bot is not installed.", "FAILED_PRECONDITION"),
  BOT_BUDGET_USED_UP: denial("What the bot may spend in a day is used up.", "RESOURCE_EXHAUSTED"),
  BOT_NOT_PERMITTED: denial("Whoever asked the bot may not write to the repository.", "PERMISSION_DENIED"),
  BOT_PAUSED: denial("The bot is paused there.", "FAILED_PRECONDITION"),
  BOT_FORK: denial("The pull request comes from a fork, which the bot only reviews.", "FAILED_PRECONDITION"),
  BOT_BRANCH_UNPROTECTED: denial("The repository's default branch is not protected.", "FAILED_PRECONDITION"),
  BOT_PLAN_REFUSED: denial("What was to be done does not hold against the state of the thread.", "FAILED_PRECONDITION"),

  // Webhooks.
  WEBHOOK_SECRET_WRONG: denial("The shared secret is wrong.", "UNAUTHENTICATED", { exit: exitCodes.forbidden }),
  WEBHOOK_ADDRESS_NOT_ALLOWED: denial("The caller's address is not on the list.", "PERMISSION_DENIED"),
  WEBHOOK_KEY_DUPLICATE: denial("The idempotency key was seen within 5 minutes.", "ALREADY_EXISTS"),
  WEBHOOK_SIGNATURE: denial("The signature is missing, or is not that of these bytes.", "UNAUTHENTICATED", {
    exit: exitCodes.forbidden,
  }),
  WEBHOOK_BODY_TOO_LARGE: denial(
    "The body is larger than its webhook takes: 4 KB of an alert, 1 MiB of GitHub.",
    "INVALID_ARGUMENT",
    { http: 413 },
  ),
  WEBHOOK_BODY_INVALID: denial("The body is not the JSON that was agreed.", "INVALID_ARGUMENT"),
  WEBHOOK_CONTENT_TYPE: denial("The body is sent as another type than its webhook takes.", "INVALID_ARGUMENT", {
    http: 415,
  }),
  WEBHOOK_RATE_EXCEEDED: denial("More than 10 requests in a second for one fund.", "RESOURCE_EXHAUSTED"),
  WEBHOOK_KEY_REUSED: denial("Another alert took the idempotency key within 5 minutes.", "ALREADY_EXISTS"),
  WEBHOOK_FIELD_INVALID: denial("A field of the alert is missing, unknown or not what it must be."),
  WEBHOOK_PLACEHOLDER_UNRESOLVED: denial("A placeholder of the alert was sent as it stands."),
  WEBHOOK_NOT_A_NUMBER: denial("The script had no number for a field of the alert."),
  WEBHOOK_STRATEGY_UNKNOWN: denial("The strategy is not one of the fund's."),
  WEBHOOK_REVERSAL: denial("The position would change its sign in one order."),
  WEBHOOK_VENUE_UNKNOWN: denial("The symbol's venue is none of the known ones."),
  WEBHOOK_FEED_DELAYED: denial("The alert comes from a delayed feed."),
  WEBHOOK_SYMBOL_PERPETUAL: denial("The symbol is a perpetual future."),
  WEBHOOK_SYMBOL_CONTINUOUS: denial("The symbol is a continuous future."),
  WEBHOOK_SYMBOL_UNKNOWN: denial("The symbol cannot be read, or there is no such instrument."),
  WEBHOOK_ALERT_TOO_OLD: denial("The alert is older than allowed."),
  WEBHOOK_ALERT_AHEAD: denial("The alert is dated more than 60 s ahead of our clock."),
  WEBHOOK_ALERT_TIME_MISSING: denial("The alert does not say when it fired."),
  WEBHOOK_POSITION_MISMATCH: denial("The position before the alert is not the one in our books."),
  WEBHOOK_FUND_NOT_ENABLED: denial("A LIVE fund takes alerts only when the configuration names it."),
  WEBHOOK_BROKER_UNCLEAR: denial("Neither the configuration nor the envelope says which broker the order is for."),
} as const satisfies Readonly<Record<string, AnswerCode>>;

export type CommandDenialCode = keyof typeof commandDenials;
export type RetiredDenialCode = keyof typeof retiredDenials;
type GateDenialCodes = { readonly [Gate in keyof typeof gateDenials]: keyof (typeof gateDenials)[Gate] };
export type GateDenialCode = GateDenialCodes[keyof GateDenialCodes];
