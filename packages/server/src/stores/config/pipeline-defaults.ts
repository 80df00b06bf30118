import type { IdentityConfig, JsBuilderConfig } from '@firsthand/core/config/resources.ts';

export const JS_BUILDER_DEFAULTS: JsBuilderConfig = {
  script_filename: 'd.js',
  global_variable: '_df',
  delivery_method: 'cdn',
  vendor_syncs: {},
  consent_config: {},
  cross_domain: false,
};
export const IDENTITY_DEFAULTS: IdentityConfig = { cross_domain_enabled: false, cross_domain_domains: [], vendor_sync: {} };
