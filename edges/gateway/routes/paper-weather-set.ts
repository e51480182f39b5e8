// PUT /v1/oms/paper-weather: makes the paper broker and the paper market suffer, for a drill. What is not named is fair.
import type { PaperWeather } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { paperWeatherAnswer, setPaperWeatherBody } from "../schemas/orders.ts";

export function paperWeatherSet(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "setPaperWeather",
    method: "PUT",
    path: "/v1/oms/paper-weather",
    listeners: ["operator"],
    sentence: "Make the paper broker and market suffer, for a drill.",
    operation: "SetPaperWeather",
    body: setPaperWeatherBody,
    answers: { 200: paperWeatherAnswer },
    handle: async (request) => {
      const outcome = await askService<PaperWeather, PaperWeather>(parts, request, {
        service: "Oms",
        method: "SetPaperWeather",
        message: {
          ...request.body,
          gaps: request.body.gaps ?? [],
          halted_symbols: request.body.halted_symbols ?? [],
          reason: request.body.reason ?? "",
        },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}
