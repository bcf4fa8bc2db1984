import { OPENAI_RESPONSES } from "./openai-responses-wire";
import { describeProviderContract } from "./provider-contract";

describeProviderContract(OPENAI_RESPONSES);
