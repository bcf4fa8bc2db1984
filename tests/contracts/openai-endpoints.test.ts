import { ENDPOINTS } from "./openai-endpoints";
import { describeProviderContract } from "./provider-contract";

for (const wire of ENDPOINTS) describeProviderContract(wire);
