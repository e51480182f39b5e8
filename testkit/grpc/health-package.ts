// The published health.proto as a client of somebody else's takes it: what our server and its reflection are held against.
import { fromJSON, type PackageDefinition } from "@grpc/proto-loader";

/** In the form that the loader takes without a file. */
const healthProto = {
  nested: {
    grpc: {
      nested: {
        health: {
          nested: {
            v1: {
              nested: {
                HealthCheckRequest: { fields: { service: { type: "string", id: 1 } } },
                HealthCheckResponse: {
                  fields: { status: { type: "ServingStatus", id: 1 } },
                  nested: {
                    ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } },
                  },
                },
                Health: {
                  methods: {
                    Check: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse" },
                    Watch: {
                      requestType: "HealthCheckRequest",
                      responseType: "HealthCheckResponse",
                      responseStream: true,
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

export const healthPackage = (): PackageDefinition =>
  fromJSON(healthProto as Parameters<typeof fromJSON>[0], { enums: String, defaults: true });
