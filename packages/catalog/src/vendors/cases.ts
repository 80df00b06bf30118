/** Every vendor's cases, by hand; the suite names what this list forgot. */
import amazonS3 from './amazon_s3/cases.ts';
import amplitude from './amplitude/cases.ts';
import braze from './braze/cases.ts';
import customHttp from './custom_http/cases.ts';
import googleAds from './google_ads/cases.ts';
import googleAnalytics4 from './google_analytics_4/cases.ts';
import hubspot from './hubspot/cases.ts';
import metaConversionsApi from './meta_conversions_api/cases.ts';
import postgresql from './postgresql/cases.ts';
import type { VendorCases } from './shared/cases.ts';
import tiktokEventsApi from './tiktok_events_api/cases.ts';
import webhook from './webhook/cases.ts';

export const VENDOR_CASES: readonly VendorCases[] = [
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
