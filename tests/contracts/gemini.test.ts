import { GEMINI } from "./gemini-wire";
import { describeProviderContract } from "./provider-contract";
import { describeAgainstSimulation } from "./simulated-contract";

describeProviderContract(GEMINI);
describeAgainstSimulation(GEMINI, { model: "gemini-2.5-flash" });
