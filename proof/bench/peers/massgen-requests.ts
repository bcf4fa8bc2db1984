import { textSent } from "../../../simulated/providers/model-input";
import type { Situation } from "../../../simulated/providers/situation";
import { openingOf } from "../simulated-team";

/**
 * A request of MassGen as the service would send it, so that the same scripts reply. MassGen offers
 * both tools in every request of the coordination, and only `new_answer` to the presenter. So an
 * agent has answered if its answer is among the texts that it reads.
 */
export function asServiceRequest(situation: Situation): Situation {
  const { asked, offers, model } = situation;
  if (!offers.includes("vote")) return { ...situation, stage: "presentation" };
  const hasAnswered = textSent(asked).includes(openingOf(model));
  return { ...situation, stage: hasAnswered ? "deciding" : "first_answer" };
}
