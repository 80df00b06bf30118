import {
  siAdroll,
  siAlgolia,
  siApachekafka,
  siBrevo,
  siDiscord,
  siGoogleads,
  siGoogleanalytics,
  siGooglecampaignmanager360,
  siGoogledisplayandvideo360,
  siGooglemarketingplatform,
  siGooglepubsub,
  siGooglesheets,
  siHubspot,
  siIntercom,
  siLoops,
  siMailchimp,
  siMatomo,
  siMeta,
  siMixpanel,
  siMqtt,
  siNatsdotio,
  siNextdoor,
  siPagerduty,
  siPinterest,
  siPlausibleanalytics,
  siPostgresql,
  siPosthog,
  siQuora,
  siRabbitmq,
  siRakuten,
  siReddit,
  siRedis,
  siResend,
  siSnapchat,
  siSnowflake,
  siSpotify,
  siTelegram,
  siTiktok,
  siX,
  siZendesk,
  siZoho,
} from 'simple-icons';
import classes from './catalog.module.css';

/** By the vendor's key. Imported one by one: the package holds thousands. */
const ICONS: Readonly<Record<string, { path: string }>> = {
  adroll: siAdroll,
  algolia_insights: siAlgolia,
  brevo: siBrevo,
  campaign_manager_360: siGooglecampaignmanager360,
  discord: siDiscord,
  display_video_360: siGoogledisplayandvideo360,
  google_ads: siGoogleads,
  google_analytics_4: siGoogleanalytics,
  google_data_manager: siGooglemarketingplatform,
  google_pubsub: siGooglepubsub,
  google_sheets: siGooglesheets,
  hubspot: siHubspot,
  intercom: siIntercom,
  kafka: siApachekafka,
  loops: siLoops,
  mailchimp: siMailchimp,
  matomo: siMatomo,
  meta_conversions_api: siMeta,
  mixpanel: siMixpanel,
  mqtt: siMqtt,
  nats: siNatsdotio,
  nextdoor: siNextdoor,
  pagerduty: siPagerduty,
  pinterest: siPinterest,
  plausible: siPlausibleanalytics,
  postgresql: siPostgresql,
  posthog: siPosthog,
  quora: siQuora,
  rabbitmq: siRabbitmq,
  rakuten: siRakuten,
  reddit: siReddit,
  redis: siRedis,
  resend: siResend,
  snapchat: siSnapchat,
  snowflake: siSnowflake,
  spotify_ads: siSpotify,
  telegram: siTelegram,
  tiktok_events_api: siTiktok,
  x: siX,
  zendesk: siZendesk,
  zoho_crm: siZoho,
};

/** The vendor's mark in one colour, or two letters of its name; the name itself stands beside it. */
export function VendorIcon({ vendor, name }: { vendor: string; name: string }) {
  const icon = Object.hasOwn(ICONS, vendor) ? ICONS[vendor] : undefined;
  const letters = name
    .split(/[\s-]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0))
    .join('');
  return (
    <span className={classes.icon} aria-hidden>
      {icon === undefined ? (
        letters
      ) : (
        <svg viewBox="0 0 24 24" width={15} height={15} fill="currentColor" aria-hidden="true">
          <path d={icon.path} />
        </svg>
      )}
    </span>
  );
}
