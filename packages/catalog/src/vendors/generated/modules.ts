// Written by scripts/generate-vendor-list.ts. Do not edit.
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { VendorCases } from '../shared/cases.ts';

interface VendorModule {
  vendor(): Promise<{ default: VendorDefinition }>;
  cases(): Promise<{ default: VendorCases }>;
}

export const VENDOR_MODULES: Readonly<Record<string, VendorModule>> = {
  adobe_analytics: { vendor: () => import('../adobe_analytics/vendor.ts'), cases: () => import('../adobe_analytics/cases.ts') },
  amazon_ads: { vendor: () => import('../amazon_ads/vendor.ts'), cases: () => import('../amazon_ads/cases.ts') },
  amazon_s3: { vendor: () => import('../amazon_s3/vendor.ts'), cases: () => import('../amazon_s3/cases.ts') },
  amplitude: { vendor: () => import('../amplitude/vendor.ts'), cases: () => import('../amplitude/cases.ts') },
  azure_blob_storage: { vendor: () => import('../azure_blob_storage/vendor.ts'), cases: () => import('../azure_blob_storage/cases.ts') },
  braze: { vendor: () => import('../braze/vendor.ts'), cases: () => import('../braze/cases.ts') },
  brevo: { vendor: () => import('../brevo/vendor.ts'), cases: () => import('../brevo/cases.ts') },
  campaign_manager_360: { vendor: () => import('../campaign_manager_360/vendor.ts'), cases: () => import('../campaign_manager_360/cases.ts') },
  countly: { vendor: () => import('../countly/vendor.ts'), cases: () => import('../countly/cases.ts') },
  criteo: { vendor: () => import('../criteo/vendor.ts'), cases: () => import('../criteo/cases.ts') },
  custom_http: { vendor: () => import('../custom_http/vendor.ts'), cases: () => import('../custom_http/cases.ts') },
  customer_io: { vendor: () => import('../customer_io/vendor.ts'), cases: () => import('../customer_io/cases.ts') },
  discord: { vendor: () => import('../discord/vendor.ts'), cases: () => import('../discord/cases.ts') },
  display_video_360: { vendor: () => import('../display_video_360/vendor.ts'), cases: () => import('../display_video_360/cases.ts') },
  google_ads: { vendor: () => import('../google_ads/vendor.ts'), cases: () => import('../google_ads/cases.ts') },
  google_analytics_4: { vendor: () => import('../google_analytics_4/vendor.ts'), cases: () => import('../google_analytics_4/cases.ts') },
  google_data_manager: { vendor: () => import('../google_data_manager/vendor.ts'), cases: () => import('../google_data_manager/cases.ts') },
  heap: { vendor: () => import('../heap/vendor.ts'), cases: () => import('../heap/cases.ts') },
  hubspot: { vendor: () => import('../hubspot/vendor.ts'), cases: () => import('../hubspot/cases.ts') },
  intercom: { vendor: () => import('../intercom/vendor.ts'), cases: () => import('../intercom/cases.ts') },
  iterable: { vendor: () => import('../iterable/vendor.ts'), cases: () => import('../iterable/cases.ts') },
  klaviyo: { vendor: () => import('../klaviyo/vendor.ts'), cases: () => import('../klaviyo/cases.ts') },
  linkedin: { vendor: () => import('../linkedin/vendor.ts'), cases: () => import('../linkedin/cases.ts') },
  matomo: { vendor: () => import('../matomo/vendor.ts'), cases: () => import('../matomo/cases.ts') },
  meta_conversions_api: { vendor: () => import('../meta_conversions_api/vendor.ts'), cases: () => import('../meta_conversions_api/cases.ts') },
  microsoft_advertising: { vendor: () => import('../microsoft_advertising/vendor.ts'), cases: () => import('../microsoft_advertising/cases.ts') },
  mixpanel: { vendor: () => import('../mixpanel/vendor.ts'), cases: () => import('../mixpanel/cases.ts') },
  mparticle: { vendor: () => import('../mparticle/vendor.ts'), cases: () => import('../mparticle/cases.ts') },
  onesignal: { vendor: () => import('../onesignal/vendor.ts'), cases: () => import('../onesignal/cases.ts') },
  openai_ads: { vendor: () => import('../openai_ads/vendor.ts'), cases: () => import('../openai_ads/cases.ts') },
  pinterest: { vendor: () => import('../pinterest/vendor.ts'), cases: () => import('../pinterest/cases.ts') },
  plausible: { vendor: () => import('../plausible/vendor.ts'), cases: () => import('../plausible/cases.ts') },
  postgresql: { vendor: () => import('../postgresql/vendor.ts'), cases: () => import('../postgresql/cases.ts') },
  posthog: { vendor: () => import('../posthog/vendor.ts'), cases: () => import('../posthog/cases.ts') },
  reddit: { vendor: () => import('../reddit/vendor.ts'), cases: () => import('../reddit/cases.ts') },
  rudderstack: { vendor: () => import('../rudderstack/vendor.ts'), cases: () => import('../rudderstack/cases.ts') },
  salesforce: { vendor: () => import('../salesforce/vendor.ts'), cases: () => import('../salesforce/cases.ts') },
  segment: { vendor: () => import('../segment/vendor.ts'), cases: () => import('../segment/cases.ts') },
  slack: { vendor: () => import('../slack/vendor.ts'), cases: () => import('../slack/cases.ts') },
  snapchat: { vendor: () => import('../snapchat/vendor.ts'), cases: () => import('../snapchat/cases.ts') },
  snowplow: { vendor: () => import('../snowplow/vendor.ts'), cases: () => import('../snowplow/cases.ts') },
  tealium: { vendor: () => import('../tealium/vendor.ts'), cases: () => import('../tealium/cases.ts') },
  the_trade_desk: { vendor: () => import('../the_trade_desk/vendor.ts'), cases: () => import('../the_trade_desk/cases.ts') },
  tiktok_events_api: { vendor: () => import('../tiktok_events_api/vendor.ts'), cases: () => import('../tiktok_events_api/cases.ts') },
  webhook: { vendor: () => import('../webhook/vendor.ts'), cases: () => import('../webhook/cases.ts') },
  x: { vendor: () => import('../x/vendor.ts'), cases: () => import('../x/cases.ts') },
  yandex_metrica: { vendor: () => import('../yandex_metrica/vendor.ts'), cases: () => import('../yandex_metrica/cases.ts') },
};
