import { ANTHROPIC } from "./anthropic-wire";
import { describeProviderContract } from "./provider-contract";
import { describeAgainstSimulation } from "./simulated-contract";

describeProviderContract(ANTHROPIC);
describeAgainstSimulation(ANTHROPIC, { model: "claude-sonnet-4-5", thinks: true });
