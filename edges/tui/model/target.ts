// What Enter opens: rows name it, keys ask for it, and an effect reads it.

export type Target =
  | { readonly kind: "order"; readonly orderId: string }
  | { readonly kind: "position"; readonly fundId: string; readonly symbol: string; readonly strategyId: string }
  | { readonly kind: "fund"; readonly fundId: string }
  | { readonly kind: "halt"; readonly haltId: string; readonly scope: string };
