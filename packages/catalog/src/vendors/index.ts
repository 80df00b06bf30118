/** Every vendor, by hand: one folder and one line. */
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import webhook from './webhook/vendor.ts';

export const VENDORS: readonly VendorDefinition[] = [webhook];
