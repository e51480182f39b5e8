// Messages that are also records of events (contracts/src/records): what is answered of them is that record, so that an event and an answer say the
// same of it, with the same ranges and components.

import { bar, instrument, newsItem } from "../../../contracts/src/records/market.ts";
import { figure, riskDecision } from "../../../contracts/src/records/order.ts";
import type { Schema } from "../../../contracts/src/schema.ts";
import { envelopeAnswer } from "../schemas/envelope.ts";
import { askedOrder } from "../schemas/risk.ts";

export const recordAnswers: Readonly<Partial<Record<string, Schema>>> = {
  Bar: bar,
  Figure: figure,
  Instrument: instrument,
  NewsItem: newsItem,
  // As it was asked, valid or not.
  Order: askedOrder,
  RiskDecision: riskDecision,
  RiskEnvelope: envelopeAnswer,
};
