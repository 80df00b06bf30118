/** Every vendor, by hand: one folder and one line. */
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import amazonS3 from './amazon_s3/vendor.ts';
import amplitude from './amplitude/vendor.ts';
import braze from './braze/vendor.ts';
import customHttp from './custom_http/vendor.ts';
import googleAds from './google_ads/vendor.ts';
import googleAnalytics4 from './google_analytics_4/vendor.ts';
import hubspot from './hubspot/vendor.ts';
import metaConversionsApi from './meta_conversions_api/vendor.ts';
import postgresql from './postgresql/vendor.ts';
import tiktokEventsApi from './tiktok_events_api/vendor.ts';
import webhook from './webhook/vendor.ts';

export const VENDORS: readonly VendorDefinition[] = [
  webhook,
  customHttp,
  googleAnalytics4,
  metaConversionsApi,
  tiktokEventsApi,
  googleAds,
  amplitude,
  braze,
  amazonS3,
  hubspot,
  postgresql,
];
