import { GEMINI } from "./gemini-wire";
import { describeProviderContract } from "./provider-contract";

describeProviderContract(GEMINI);
