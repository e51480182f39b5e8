// The closed lists of words that records use, exactly as they stand on the wire.

import { z } from "zod";
import { gateNames } from "../generated/gates.ts";
import { watchdogNames } from "../watchdog-names.ts";

export const side = z.enum(["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"]);
export type Side = z.infer<typeof side>;

export const orderType = z.enum(["MARKET", "LIMIT", "STOP", "STOP_LIMIT"]);
export type OrderType = z.infer<typeof orderType>;

/** Time in force. */
export const tif = z.enum(["DAY", "GTC", "IOC", "FOK", "GTD"]);
export type Tif = z.infer<typeof tif>;

export const assetClass = z.enum(["EQUITY", "CRYPTO", "OPTION"]);
export type AssetClass = z.infer<typeof assetClass>;

/** The seven gates in the order in which they are asked. */
export const gateName = z.enum(gateNames);
export type GateName = z.infer<typeof gateName>;

/** From the narrowest scope to the widest. */
export const severity = z.enum(["STRATEGY_HALT", "FUND_HALT", "FIRM_HALT"]);
export type Severity = z.infer<typeof severity>;

/** What an order does to the position, as the engine proves it. */
export const classification = z.enum(["REDUCE", "INCREASE", "FLIP"]);
export type Classification = z.infer<typeof classification>;

export const orderState = z.enum([
  "PENDING_CHECK",
  "REJECTED",
  "ACCEPTED",
  "ROUTED",
  "WORKING",
  "PARTIALLY_FILLED",
  "FILLED",
  "CANCEL_PENDING",
  "CANCELLED",
  "EXPIRED",
  "UNKNOWN",
]);
export type OrderState = z.infer<typeof orderState>;

export const watchdogName = z.enum(watchdogNames);
export type WatchdogName = z.infer<typeof watchdogName>;

/** Whether a fund trades paper or money. */
export const fundMode = z.enum(["PAPER", "LIVE"]);
export type FundMode = z.infer<typeof fundMode>;

/** live trades, shadow only computes what it would do, halted does nothing. */
export const strategyStatus = z.enum(["live", "shadow", "halted"]);
export type StrategyStatus = z.infer<typeof strategyStatus>;
