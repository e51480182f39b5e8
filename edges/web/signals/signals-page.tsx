// /signals: did my alert arrive, and what became of it? What was refused stands beside what was taken.
import { DryRun, Template } from "./alert-message.tsx";
import { Ours } from "./ours.tsx";
import { Received } from "./received.tsx";
import { Sender } from "./sender.tsx";
import { SignalDetail } from "./signal-detail.tsx";

export function SignalsPage() {
  return (
    <div className="panels">
      <Received />
      <SignalDetail />
      <Sender />
      <Ours />
      <Template />
      <DryRun />
    </div>
  );
}
