// GET /v1/oms/paper-weather: what the paper broker and the paper market are made to suffer.
import type { GetPaperWeatherRequest, PaperWeather } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { paperWeatherAnswer } from "../schemas/orders.ts";

export function paperWeather(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getPaperWeather",
    method: "GET",
    path: "/v1/oms/paper-weather",
    listeners: ["operator"],
    sentence: "See what the paper broker and market are made to suffer.",
    operation: "GetPaperWeather",
    answers: { 200: paperWeatherAnswer },
    handle: async (request) => {
      const outcome = await askService<GetPaperWeatherRequest, PaperWeather>(parts, request, {
        service: "Oms",
        method: "GetPaperWeather",
        message: {},
      });
      return answerTo(outcome, 200, plain);
    },
  });
}
