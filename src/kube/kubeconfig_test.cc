#include "kube/kubeconfig.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace berth::kubeconfig_test {

// A folder of one test, gone afterwards.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("berth-kubeconfig-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

constexpr const char* kWhole = R"(apiVersion: v1
kind: Config
current-context: dev
preferences: {}
clusters:
- name: one
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: UEVN
    tls-server-name: kubernetes
    proxy-url: http://proxy:3128
- name: open
  cluster: {server: "http://127.0.0.1:8080"}
contexts:
- name: dev
  context: {cluster: one, user: me, namespace: team-a}
- name: other
  context: {cluster: open, user: tok}
- name: nobody
  context: {cluster: open}
users:
- name: me
  user:
    client-certificate-data: Q0VS
    client-key-data: S0VZ
    as: boss
    as-groups: [chiefs, "system:masters"]
- name: tok
  user: {token: abc, username: u, password: p}
)";

TEST(Kubeconfig, ReadsTheCurrentContext) {
  const auto access = parse_kubeconfig(kWhole, "/etc/config", "");
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->ca, "PEM");
  EXPECT_EQ(access->tls_server_name, "kubernetes");
  EXPECT_EQ(access->proxy_url, "http://proxy:3128");
  EXPECT_EQ(access->client_certificate, "CER");
  EXPECT_EQ(access->client_key, "KEY");
  EXPECT_EQ(access->impersonate, "boss");
  EXPECT_EQ(access->impersonate_groups, (std::vector<std::string>{"chiefs", "system:masters"}));
  EXPECT_EQ(access->name_space, "team-a");
  EXPECT_FALSE(access->insecure_skip_tls_verify);
}

TEST(Kubeconfig, ReadsTheContextThatIsAskedFor) {
  const auto access = parse_kubeconfig(kWhole, "/etc/config", "other");
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->server, "http://127.0.0.1:8080");
  EXPECT_EQ(access->token, "abc");
  EXPECT_EQ(access->username, "u");
  EXPECT_EQ(access->password, "p");
  EXPECT_EQ(access->name_space, "default");
  const auto nobody = parse_kubeconfig(kWhole, "/etc/config", "nobody");
  ASSERT_TRUE(nobody);
  EXPECT_EQ(nobody->token, "");
}

// The whole file with one piece of it replaced.
std::string with(const std::string& piece, const std::string& other) {
  std::string text = kWhole;
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), other);
}

TEST(Kubeconfig, SaysWhereAndWhatIsWrong) {
  const struct {
    std::string text;
    const char* context;
    const char* complaint;
  } cases[] = {
      {"", "", "current-context: there is none"},
      {"[1]", "", "is no kubeconfig"},
      {"a: [", "", "/etc/config"},
      {"a: 1\n---\na: 2\n", "", "more than one document"},
      {with("kind: Config", "kind: Pod"), "", "kind: is 'Pod', not 'Config'"},
      {kWhole, "prod", "contexts: there is no context 'prod'; there are 'dev', 'other', 'nobody'"},
      {with("cluster: one,", "cluster: two,"), "",
       "contexts[0].context.cluster: there is no cluster 'two'; there are 'one'"},
      {with("user: me,", "user: you,"), "", "contexts[0].context.user: there is no user 'you'"},
      {with("cluster: one, ", ""), "", "contexts[0].context.cluster: must name one of the clusters"},
      {with("https://10", "10"), "",
       "clusters[0].cluster.server: '10.0.0.1:6443' is no address; write one like https://"},
      {with("UEVN", "U$"), "", "clusters[0].cluster.certificate-authority-data: is no base64"},
      {with("UEVN", "UEV"), "", "is no base64"},
      {with("UEVN", "17"), "", "certificate-authority-data: must be a text"},
      {with("tls-server-name: kubernetes", "insecure-skip-tls-verify: true"), "", "remove one of the two"},
      {with("tls-server-name: kubernetes", "insecure-skip-tls-verify: yup"), "", "must be true or false"},
      {with("client-key-data: S0VZ", ""), "", "users[0].user: client-certificate and client-key go together"},
      {with("client-key-data: S0VZ", "client-key: /nowhere/key"), "",
       "users[0].user.client-key: /nowhere/key: cannot be read"},
      {with("as: boss", "exec: {command: aws}"), "",
       "users[0].user.exec: programs that fetch credentials are not run; give"},
      {with("as: boss", "auth-provider: {name: gcp}"), "", "users[0].user.auth-provider: these were removed"},
      {with("as: boss", "as-uid: x"), "", "users[0].user.as-uid: acting as a uid is not supported"},
      {with("as-groups: [chiefs", "as-groups: [[]"), "", "as-groups: must be a list of texts"},
      {with("token: abc", "token: a b"), "other", "users[1].user.token: is no token"},
      {with("token: abc", "tokenFile: none"), "other", "users[1].user.tokenFile: /etc/none: cannot be read"},
      {with("users:\n", "users: 7\nx:\n"), "", "users: must be a list"},
      {with("name: me\n", "name: 3\n"), "", "users[0].name: must be a text"},
      {with("context: {cluster: open, user: tok}", "context: []"), "other", "contexts[1].context: must be a map"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto access = parse_kubeconfig(c.text, "/etc/config", c.context);
    ASSERT_FALSE(access);
    EXPECT_NE(access.error().to_string().find(c.complaint), std::string::npos) << access.error().to_string();
    EXPECT_EQ(access.error().to_string().rfind("/etc/config", 0), 0U) << access.error().to_string();
  }
}

TEST(Kubeconfig, OfSeveralFilesTheFirstToSaySomethingWins) {
  const Folder folder;
  const std::string first = folder.write("a/config", R"(
contexts: [{name: dev, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://first", certificate-authority: pki/ca.pem}}]
)");
  const std::string second = folder.write("b/config", R"(
current-context: dev
clusters: [{name: c, cluster: {server: "https://second"}}]
users: [{name: u, user: {tokenFile: token}}]
)");
  folder.write("a/pki/ca.pem", "the authority");
  folder.write("b/token", "  secret\n");
  const std::string list = folder.path("missing") + ":" + first + "::" + second + ":" + first;
  const auto access = load_kubeconfig({.path = "", .context = "", .environment = {{"KUBECONFIG", list}}});
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->server, "https://first");
  EXPECT_EQ(access->ca, "the authority") << "paths are below the folder of the file that names them";
  EXPECT_EQ(access->token_file, folder.path("b/token"));
}

TEST(Kubeconfig, LooksWhereKubectlLooks) {
  const Folder folder;
  const auto config = [](const char* server) {
    return "current-context: x\ncontexts: [{name: x, context: {cluster: x}}]\n"
           "clusters: [{name: x, cluster: {server: \"" +
           std::string(server) + "\"}}]\n";
  };
  const std::string given = folder.write("given", config("https://given"));
  const std::string listed = folder.write("listed", config("https://listed"));
  folder.write("home/.kube/config", config("https://home"));
  folder.write("pod/token", "t\n");
  folder.write("pod/ca.crt", "authority");
  folder.write("pod/namespace", "berth");
  KubeconfigQuestion question;
  question.service_account_folder = folder.path("pod");
  question.environment = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const auto server = [&] {
    const auto access = load_kubeconfig(question);
    return access ? access->server : access.error().to_string();
  };
  EXPECT_EQ(server(), "https://[fd00::1]:443");
  EXPECT_EQ(load_kubeconfig(question)->name_space, "berth");
  EXPECT_EQ(load_kubeconfig(question)->token_file, folder.path("pod/token"));
  question.environment["HOME"] = folder.path("home");
  EXPECT_EQ(server(), "https://home");
  question.environment["KUBECONFIG"] = listed;
  EXPECT_EQ(server(), "https://listed");
  question.path = given;
  EXPECT_EQ(server(), "https://given");
  question.path = folder.path("nothing");
  EXPECT_NE(server().find("cannot be read"), std::string::npos) << server();
  question.path = folder.path("home");
  EXPECT_NE(server().find("is a folder"), std::string::npos) << server();
}

TEST(Kubeconfig, SaysWhereItLookedWhenThereIsNone) {
  KubeconfigQuestion question;
  question.environment = {{"HOME", "/nowhere"}};
  EXPECT_NE(load_kubeconfig(question).error().to_string().find("'/nowhere/.kube/config'"), std::string::npos);
  question.environment["KUBECONFIG"] = "/nowhere/a:/nowhere/b";
  EXPECT_NE(load_kubeconfig(question).error().to_string().find("KUBECONFIG is '/nowhere/a:/nowhere/b'"),
            std::string::npos);
  question.environment = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}};
  question.service_account_folder = "/nowhere/pod";
  const std::string text = load_kubeconfig(question).error().to_string();
  EXPECT_NE(text.find("/nowhere/pod/token"), std::string::npos) << text;
  EXPECT_NE(text.find("/nowhere/pod/ca.crt"), std::string::npos) << text;
}

}  // namespace berth::kubeconfig_test
