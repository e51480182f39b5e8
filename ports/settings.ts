// What the configuration says to services, as plain data: the composition reads it from the sections of the same names.
import type { FundFilings } from "../contracts/src/records/filing.ts";

export interface RiskSettings {
  /** The oldest inputs that new risk is decided on. */
  readonly markAgeMsMax: number;
  readonly navAgeMsMax: number;
  readonly fxAgeMsMax: number;
  readonly borrowAgeMsMax: number;
  /** The oldest value of a fund that its loss limits are judged by; not above `navAgeMsMax`. */
  readonly lossValueAgeMsMax: number;
  /** How long an approval may be used. */
  readonly approvalValidMs: number;
  /** How long after that an approval that nobody sent keeps its exposure; 30 s when absent. Nobody configures it: the simulator has less time. */
  readonly approvalGraceMs?: number;
  /** Decisions that wait for their commit; one more is refused with RESOURCE_EXHAUSTED. */
  readonly undecidedMax: number;
  /** Open orders of one fund. */
  readonly openOrdersPerFundMax: number;
  /** How often halts are read again without a notification, and after how long without an answer they are unknown. */
  readonly haltPollMs: number;
  readonly haltUnknownMs: number;
  /** Valuations in a row that confirm a loss above its limit, and how long it waits for them at most. */
  readonly lossConfirmations: number;
  readonly lossConfirmMs: number;
  /** How much of a fund a value from outside may have that nothing explains, as a fraction. */
  readonly valueUnexplainedMax: number;
  /** How far a price may move at once before it has to be confirmed, as a fraction. */
  readonly priceJumpMax: number;
  /** Entries between two snapshots of the engine's books. */
  readonly snapshotEveryEntries: number;
}

export interface MarketSettings {
  /** The paper market's seed: the same seed, the same prices. */
  readonly seed: number;
  /** How often a symbol's quote moves. */
  readonly quoteEveryMs: number;
  /** Whether the paper market trades around the clock, which it does when this is absent, or as the instruments' calendars say. */
  readonly sessions?: "always" | "real";
  /** Whether the simulated market quotes, which it does when this is absent, and the same for the venues that say otherwise. */
  readonly feed?: MarketFeed;
  readonly feedByVenue?: Readonly<Record<string, MarketFeed>>;
}

type MarketFeed = "paper" | "off";

interface AuditSettings {
  /** Where the key that signs checkpoints is kept among the secrets. */
  readonly signingKeyPath: string;
  /** How often the log verifies itself, and how long after the start it does so first. */
  readonly verifyEveryMs: number;
  readonly verifyFirstAfterMs: number;
  /** How far the log may be behind the outbox before new risk is denied. */
  readonly behindMaxMs: number;
}

/** From how many free megabytes on, where the platform writes, somebody is warned and new risk is denied. */
export interface DiskSettings {
  readonly warnMb: number;
  readonly newRiskMb: number;
}

interface StopSettings {
  readonly enabled: boolean;
  /** How often prices are read: of crypto, and of everything else. */
  readonly cryptoEveryMs: number;
  readonly othersEveryMs: number;
  /** The oldest quote that a stop is judged by. */
  readonly quoteAgeMsMax: number;
}

export interface ReconcileSettings {
  readonly enabled: boolean;
  readonly everyMs: number;
  /** How long after a look that found something the next one comes. */
  readonly confirmAfterMs: number;
  /** Open differences from which on somebody is alerted. */
  readonly alertThreshold: number;
  readonly autoCorrect: boolean;
}

interface ResearchSettings {
  /** How often a strategy decides, on average. */
  readonly decideEveryMs: number;
}

/** How splits and changes of symbols are carried out. Nobody configures it: the simulator has less time. */
export interface CorporateActionSettings {
  /** How long after its announcement an action is applied at the earliest: longer than anybody may quote a price of before it. */
  readonly leadMs: number;
  /** How often order management and the risk engine look for what is to be done. */
  readonly lookEveryMs: number;
  /** How long it may take until nothing stands against it. */
  readonly patienceMs: number;
}

interface DrillSettings {
  /** Hours between drills; 0 means that only people ask for them. */
  readonly everyHours: number;
}

/** How alerts of the charting platform become orders. */
export interface TradingViewSettings {
  /** The oldest alert that becomes an order. */
  readonly ageMsMax: number;
  /** Whether an alert that does not say when it fired is refused. */
  readonly requiresTime: boolean;
  /** The LIVE funds that take alerts. */
  readonly liveFunds: readonly string[];
  readonly funds: Readonly<Record<string, TradingViewFundSettings>>;
  /** By strategy: the longest silence in an open market. */
  readonly heartbeatsMs: Readonly<Record<string, number>>;
}

export interface TradingViewFundSettings {
  /** From what alerts call an instrument to our symbol. */
  readonly symbols: Readonly<Record<string, string>>;
  readonly broker?: string;
  readonly onMismatch: "flag" | "refuse";
}

/** How a regime's files reach the regulator. */
export interface RegimeSettings {
  readonly environment: "test" | "production";
  readonly transport: "none" | "folder" | "sftp";
  /** HH:MM on the regime's own clock. */
  readonly uploadAt: string;
  /** Whether a second file goes with each. */
  readonly hasMetaFile: boolean;
}

/** What is reported to regulators; a fund that is not in it reports nothing. */
export interface FilingSettings {
  /** By the regime; one without its own is handed in by people alone. */
  readonly regimes?: Readonly<Record<string, RegimeSettings | undefined>>;
  readonly funds: Readonly<Record<string, FundFilings>>;
}

export interface Settings {
  readonly stops: StopSettings;
  readonly drills: DrillSettings;
  readonly reconcile: ReconcileSettings;
  readonly audit: AuditSettings;
  readonly disk: DiskSettings;
  readonly risk: RiskSettings;
  readonly market: MarketSettings;
  readonly research: ResearchSettings;
  /** 5 s, 0.5 s and 30 s when absent. */
  readonly corporateActions?: CorporateActionSettings;
  /** Nothing when absent. */
  readonly filings?: FilingSettings;
  /** 300 s, PAPER funds alone and no heartbeats when absent. */
  readonly tradingView?: TradingViewSettings;
  /** Whether funds, envelopes, reference data and positions of the paper platform are put in when there are none. */
  readonly seedPaperPlatform: boolean;
  /** Whether its past is made as well: the year before it, and the strategies' backtests. */
  readonly seedPaperHistory: boolean;
}
