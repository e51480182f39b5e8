// The configuration as services get it: plain data in the units that code uses.
import type { CatSettings, FundFilings, MifidSettings } from "../../contracts/src/records/filing.ts";
import type { FilingSettings, RegimeSettings, Settings, TradingViewSettings } from "../../ports/settings.ts";
import type { Configuration } from "./schema.ts";

/** `isPaper` says whether this database began with the paper funds (paper-broker/paper-beginnings.ts). */
export function settingsOf(configuration: Configuration, isPaper: boolean): Settings {
  const { audit, risk, market, paper, secrets, research } = configuration;
  const { synthetic_stop: stop, broker_exit_reconciler: reconciler } = configuration;
  return {
    stops: {
      enabled: stop.enabled,
      cryptoEveryMs: stop.poll_interval_s * 1_000,
      othersEveryMs: stop.poll_interval_equities_s * 1_000,
      quoteAgeMsMax: stop.quote_age_max_s * 1_000,
    },
    drills: { everyHours: configuration.drills.every_hours },
    reconcile: {
      enabled: reconciler.enabled,
      everyMs: reconciler.interval_s * 1_000,
      confirmAfterMs: reconciler.confirm_after_s * 1_000,
      alertThreshold: reconciler.alert_threshold,
      autoCorrect: reconciler.auto_correct,
    },
    audit: {
      signingKeyPath: `secret/${secrets.prefix}/audit/signing-key`,
      verifyEveryMs: audit.verify_every_s * 1_000,
      verifyFirstAfterMs: audit.verify_first_after_s * 1_000,
      behindMaxMs: audit.behind_max_s * 1_000,
    },
    disk: { warnMb: configuration.disk.warn_mb, newRiskMb: configuration.disk.new_risk_mb },
    risk: {
      markAgeMsMax: risk.mark_age_max_s * 1_000,
      navAgeMsMax: risk.nav_age_max_s * 1_000,
      // Unset it follows a value that is set lower; one that is set above it is refused (cross-checks.ts).
      lossValueAgeMsMax: Math.min(risk.loss_value_age_max_s, risk.nav_age_max_s) * 1_000,
      fxAgeMsMax: risk.fx_age_max_s * 1_000,
      borrowAgeMsMax: risk.borrow_age_max_s * 1_000,
      approvalValidMs: risk.approval_valid_ms,
      undecidedMax: risk.undecided_max,
      openOrdersPerFundMax: risk.open_orders_per_fund_max,
      haltPollMs: risk.halt_poll_ms,
      haltUnknownMs: risk.halt_unknown_ms,
      lossConfirmations: risk.loss_confirmations,
      lossConfirmMs: risk.loss_confirm_ms,
      valueUnexplainedMax: risk.value_unexplained_max,
      priceJumpMax: risk.price_jump_max,
      snapshotEveryEntries: risk.snapshot_every_entries,
    },
    market: {
      seed: market.seed,
      quoteEveryMs: market.quote_every_ms,
      sessions: market.sessions,
      feed: market.feed,
      feedByVenue: Object.fromEntries(Object.entries(market.venues).map(([venue, { feed }]) => [venue, feed])),
    },
    research: { decideEveryMs: research.decide_every_s * 1_000 },
    tradingView: tradingViewOf(configuration),
    filings: filingsOf(configuration),
    seedPaperPlatform: isPaper,
    seedPaperHistory: isPaper && paper.history,
  };
}

/** Only what is enabled. */
function filingsOf({ funds, filings }: Configuration): FilingSettings {
  const { environment, transport, upload_at: uploadAt, meta_file: hasMetaFile } = filings.cat;
  const regimes: Record<string, RegimeSettings> = { CAT: { environment, transport, uploadAt, hasMetaFile } };
  const of = funds.map((fund): readonly [string, FundFilings] => [fund.fund_id, fundFilingsOf(fund)]);
  return { regimes, funds: Object.fromEntries(of.filter(([, found]) => Object.keys(found).length > 0)) };
}

type FundConfiguration = Configuration["funds"][number];

function fundFilingsOf(fund: FundConfiguration): FundFilings {
  const { cat_enabled, mifid_enabled, oats_enabled, cat_reporter_imid } = fund.compliance;
  return {
    ...(cat_enabled && { cat: catOf(fund) }),
    ...(mifid_enabled && { mifid: mifidOf(fund) }),
    ...(oats_enabled && { oats: { mpid: cat_reporter_imid } }),
  };
}

function mifidOf({ compliance }: FundConfiguration): MifidSettings {
  return {
    lei: compliance.mifid_lei,
    submitterLei: compliance.mifid_submitter_lei,
    fundLei: compliance.mifid_fund_lei,
    country: compliance.mifid_country,
    venues: compliance.mifid_venues,
  };
}

function catOf({ fund_id: fundId, compliance }: FundConfiguration): CatSettings {
  return {
    submitterId: compliance.cat_subscriber_id,
    imid: compliance.cat_reporter_imid,
    crd: compliance.cat_crd,
    fdid: compliance.cat_fdid ?? fundId,
    accountHolderType: compliance.cat_account_holder_type,
    deptType: compliance.cat_dept_type,
    destinations: compliance.cat_destinations,
  };
}

function tradingViewOf({ tradingview }: Configuration): TradingViewSettings {
  return {
    ageMsMax: tradingview.max_age_s * 1_000,
    requiresTime: tradingview.require_time,
    liveFunds: tradingview.live_funds,
    funds: Object.fromEntries(
      Object.entries(tradingview.funds).map(([fundId, { symbols, broker, on_mismatch }]) => [
        fundId,
        { symbols, ...(broker !== undefined && { broker }), onMismatch: on_mismatch },
      ]),
    ),
    heartbeatsMs: Object.fromEntries(
      Object.entries(tradingview.heartbeats).map(([strategyId, seconds]) => [strategyId, seconds * 1_000]),
    ),
  };
}
