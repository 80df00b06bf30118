export { testDelivery } from '../roles/deliver/test-delivery.ts';
