import { ANTHROPIC } from "./anthropic-wire";
import { describeProviderContract } from "./provider-contract";

describeProviderContract(ANTHROPIC);
