import type { WireEvent } from './types.ts';
export const deliverClientSide = (_event: WireEvent) => {};
