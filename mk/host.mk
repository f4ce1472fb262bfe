# Host library: bootstrap, frames in and out, public API; its tools and examples.
#
# Static libraries, in link order: rf-api collective roce rfclient rf-bootstrap rf-io rf-trace rfproto.

$(eval $(call c_lib,rf-bootstrap,$(addprefix host/src/bootstrap/,settings.c env.c store.c store_server.c store_serve.c)))
$(eval $(call c_lib,rf-io-loop,host/src/io/io_loop.c))

$(eval $(call c_test,bootstrap_env,tests/unit/bootstrap_env.c,rf-bootstrap))
$(eval $(call c_test,bootstrap_store,tests/unit/bootstrap_store.c,rf-bootstrap rfproto,-lpthread))
