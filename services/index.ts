// The five platform services, in the order in which they start.
import { oms } from "./oms/oms.ts";
import { operations } from "./operations/operations.ts";
import { research } from "./research/research.ts";
import { riskengine } from "./riskengine/riskengine.ts";
import type { Service } from "./shared/service.ts";
import { treasury } from "./treasury/treasury.ts";

export const services: readonly Service[] = [riskengine, operations, treasury, oms, research];
