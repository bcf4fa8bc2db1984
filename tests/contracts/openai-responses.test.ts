import { OPENAI_RESPONSES } from "./openai-responses-wire";
import { describeProviderContract } from "./provider-contract";
import { describeAgainstSimulation } from "./simulated-contract";

describeProviderContract(OPENAI_RESPONSES);
describeAgainstSimulation(OPENAI_RESPONSES, { model: "gpt-4o" });
