// The message of an alert for the charting platform, ready to be pasted; only the secret is missing.

/** Where the fund's secret goes. */
export const secretPlace = "PUT-THE-SECRET-OF-THE-FUND-HERE";

export function alertTemplate(fundId: string, strategyId: string): Readonly<Record<string, string>> {
  return {
    secret: secretPlace,
    fund_id: fundId,
    strategy_id: strategyId,
    symbol: "{{exchange}}:{{ticker}}",
    side: "{{strategy.order.action}}",
    quantity: "{{strategy.order.contracts}}",
    order_type: "MARKET",
    tif: "DAY",
    idempotency_key: `${strategyId}-{{strategy.order.id}}-{{ticker}}-{{strategy.market_position_size}}-{{timenow}}`,
    timestamp: "{{timenow}}",
    market_position: "{{strategy.market_position}}",
    market_position_size: "{{strategy.market_position_size}}",
    prev_market_position: "{{strategy.prev_market_position}}",
    prev_market_position_size: "{{strategy.prev_market_position_size}}",
    thesis: "{{strategy.order.comment}}",
  };
}
