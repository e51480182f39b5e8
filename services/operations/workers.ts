// The risk engine's workers, which run beside operations so that no check waits for them: synthetic stops, the broker-exit reconciler, the
// alerts of both in chat, and the job that holds the books against each other.
import type { Health } from "../../ports/health.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { startParts } from "../shared/parts.ts";
import type { ServicePorts } from "../shared/service.ts";
import { type RunningBooks, startBooks } from "./books/books.ts";
import { startAlertsToChat } from "./chat/alerts-to-chat.ts";
import { startReconciler } from "./reconcile/reconcile.ts";
import type { QuoteSources } from "./stops/quote-board.ts";
import { startStops } from "./stops/stops.ts";
import { createWorkerAlarms } from "./worker-alarms.ts";

interface RunningWorkers {
  readonly handlers: RpcService["handlers"];
  health(): Health;
  stop(): Promise<void>;
}

export async function startWorkers(ports: ServicePorts, quotes: QuoteSources): Promise<RunningWorkers> {
  // Positions are kept with one broker at a time; the paper broker is the default.
  const [broker] = ports.brokers;
  if (broker === undefined) {
    const complaint = "There is no broker here, so neither stops nor the reconciler run.";
    return { handlers: {}, health: () => ({ status: "ok", complaint }), stop: async () => undefined };
  }
  const alarms = createWorkerAlarms(ports);
  const { orderManagement } = ports;
  return startParts(ports, async (parts) => {
    parts.add("alerts to chat", await startAlertsToChat({ ports, chat: ports.chat, alarms }));
    const reconciler = parts.add("reconciler", startReconciler({ ports, broker, orderManagement, alarms }));
    const stops = parts.add("stops", startStops({ ports, quotes, orderManagement, broker: broker.name, alarms }));
    const books = parts.add("books", booksOf(ports));
    return {
      handlers: { ...stops.handlers, ...reconciler.handlers, GetBooks: books.getBooks },
      health() {
        const complaints = [stops.health(), reconciler.health()].flatMap(({ complaint }) => complaint ?? []);
        return complaints.length === 0 ? { status: "ok" } : { status: "ok", complaint: complaints.join(" ") };
      },
    };
  });
}

function booksOf({ booksQueries, ...ports }: ServicePorts): Pick<RunningBooks, "getBooks" | "stop"> {
  if (booksQueries !== undefined) return startBooks({ ...ports, booksQueries });
  return { getBooks: async () => ({ checks: [] }), stop: async () => undefined };
}
